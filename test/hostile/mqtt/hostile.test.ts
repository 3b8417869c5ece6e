import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { ask, type Thing } from '../../helpers/http-client.ts'
import { type ServerProcess, startServer } from '../../helpers/server-process.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'
import { hostileCases } from './cases/index.ts'
import { HealthyPair } from './healthy-pair.ts'
import { play, type Target } from './play.ts'
import { servedTopics, topicGrants } from './topic-grants.ts'

/** Cases with more bytes are not sent byte by byte. */
const mostBytes = 300

let server: ServerProcess
let target: Target
let healthy: Thing
let pair: HealthyPair
let removeData = async () => {}

beforeAll(async () => {
  const dataDir = await temporaryDirectory(remove => {
    removeData = remove
  })
  const environment = { THINGWIRE_FAILED_CREDENTIALS_PER_MINUTE: '1000000', ...servedTopics }
  server = await startServer({ dataDir, environment })
  const createThing = () => ask<Thing>(server, 'POST', '/v2/admin/things', { topics: topicGrants })
  target = { thing: await createThing(), other: await createThing() }
  healthy = await createThing()
  pair = await HealthyPair.start(server, healthy)
})

afterAll(async () => {
  await server.kill()
  await removeData()
})

const cases = Object.values(hostileCases).flat()

test('the hostile table has at least 100 inputs, each with a name of its own', () => {
  expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length)
  expect(cases.length).toBeGreaterThanOrEqual(100)
})

describe.each(Object.entries(hostileCases))('what is wrong with %s', (_, group) => {
  it.each(group)('$name: $outcome', async hostile => {
    const { answers, outcome } = hostile
    expect(await play(hostile, server.mqttUrl, target)).toEqual({ answers, outcome })
  })

  const third = group.filter((_, place) => place % 3 === 0)
  it.each(third)('$name, over WebSocket: $outcome', async hostile => {
    const { answers, outcome } = hostile
    expect(await play(hostile, server.webSocketUrl, target, 'packet by packet')).toEqual({ answers, outcome })
  })

  const short = group.filter(
    ({ sends }, place) => place % 3 === 1 && Buffer.concat(sends).length <= mostBytes,
  )
  it.each(short)('$name, byte by byte: $outcome', async hostile => {
    const { answers, outcome } = hostile
    expect(await play(hostile, server.mqttUrl, target, 'byte by byte')).toEqual({ answers, outcome })
  })
})

test('after all that a healthy publisher and its subscriber have lost nothing, and nothing is logged as an error', async () => {
  const { acked, received } = await pair.stop()
  expect(acked.length).toBeGreaterThan(0)
  expect(received).toEqual(acked)
  expect(acked).toEqual(acked.map((_, place) => place))
  const { code, stderr } = await server.stop()
  expect(code).toBe(0)
  const errors = stderr.split('\n').filter(line => /"level":[56]0/.test(line))
  expect(errors).toEqual([])
})
