import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { type HealthyClients, startHealthyClients } from '../healthy-clients.ts'
import { type HostileServer, startHostileServer } from '../hostile-server.ts'
import type { MqttCase } from './case.ts'
import { hostileCases } from './cases/index.ts'
import { type Pacing, play } from './play.ts'

/** Cases with more bytes are not sent byte by byte. */
const mostBytes = 300

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

const cases = Object.values(hostileCases).flat()

test('the hostile table has at least 100 inputs, each with a name of its own', () => {
  expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length)
  expect(cases.length).toBeGreaterThanOrEqual(100)
})

describe.each(Object.entries(hostileCases))('what is wrong with %s', (_, group) => {
  const playOver = (door: 'mqttUrl' | 'webSocketUrl', pacing: Pacing) => async (hostileCase: MqttCase) => {
    const { server, target } = hostile
    const { answers, outcome } = hostileCase
    expect(await play(hostileCase, server[door], target, pacing)).toEqual({ answers, outcome })
  }
  it.each(group)('$name: $outcome', playOver('mqttUrl', 'at once'))

  const third = group.filter((_, place) => place % 3 === 0)
  it.each(third)('$name, over WebSocket: $outcome', playOver('webSocketUrl', 'packet by packet'))

  const short = group.filter(
    ({ sends }, place) => place % 3 === 1 && Buffer.concat(sends).length <= mostBytes,
  )
  it.each(short)('$name, byte by byte: $outcome', playOver('mqttUrl', 'byte by byte'))
})

test('after all that the healthy clients have lost nothing, and nothing is logged as an error', async () => {
  await clients.stop()
  expect(clients.mqtt.count).toBeGreaterThan(0)
  expect([...clients.http.failures, ...clients.mqtt.failures]).toEqual([])
  expect(hostile.defects()).toEqual([])
  expect(await hostile.end()).toMatchObject({ code: 0 })
})
