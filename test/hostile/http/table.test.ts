import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { type HealthyClients, startHealthyClients } from '../healthy-clients.ts'
import { type HostileServer, startHostileServer } from '../hostile-server.ts'
import { httpCases } from './cases/index.ts'
import { playCase } from './play.ts'

/** Every case on a connection of its own, and a third of them behind a good request, too. */
const third = 3

test('the hostile table has at least 200 inputs, each with a name of its own', () => {
  const names = Object.values(httpCases).flatMap(cases => cases.map(({ name }) => name))
  expect(names.filter((name, place) => names.indexOf(name) !== place)).toEqual([])
  expect(names.length).toBeGreaterThanOrEqual(200)
})

describe('the HTTP door', () => {
  let hostile: HostileServer
  let clients: HealthyClients
  beforeAll(async () => {
    hostile = await startHostileServer()
    clients = await startHealthyClients(hostile.server, hostile.healthy)
  })
  afterAll(async () => {
    await clients.stop()
    await hostile.end()
  })

  for (const [group, cases] of Object.entries(httpCases)) {
    describe(`given hostile ${group}`, () => {
      it.each(cases.map(hostileCase => [hostileCase.name, hostileCase] as const))(
        'answers as it should: %s',
        async (_name, hostileCase) => {
          expect(await playCase(hostile.server.url, hostileCase, hostile.target, 'fresh')).toEqual([])
        },
      )

      const kept = cases.filter((_, place) => place % third === 0)
      it.each(kept.map(hostileCase => [hostileCase.name, hostileCase] as const))(
        'answers as it should behind a good request: %s',
        async (_name, hostileCase) => {
          const { server, target } = hostile
          expect(await playCase(server.url, hostileCase, target, 'behind a good request')).toEqual([])
        },
      )
    })
  }

  it('serves its good clients all the while, and has no defect in its log', () => {
    expect(clients.http.count).toBeGreaterThan(0)
    expect(clients.mqtt.count).toBeGreaterThan(0)
    expect([...clients.http.failures, ...clients.mqtt.failures]).toEqual([])
    expect(hostile.defects()).toEqual([])
  })
})
