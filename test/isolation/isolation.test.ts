import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { httpTricks } from './cases/http.ts'
import { clientIdTricks } from './cases/mqtt-client-ids.ts'
import { connectTricks } from './cases/mqtt-connect.ts'
import { publishTricks } from './cases/mqtt-publish.ts'
import { subscribeTricks } from './cases/mqtt-subscribe.ts'
import { willTricks } from './cases/mqtt-wills.ts'
import { runHttp } from './run-http.ts'
import { runConnect, runPublish, runSubscribe, runTakeover, type Way } from './run-mqtt.ts'
import { httpStories, mqttStories } from './stories/stories.ts'
import type { Trick } from './trick.ts'
import { expectUnforged, openWorld, type World } from './world.ts'

/**
 * Nobody gets in where they do not belong: every trick of the tables, over each transport that it concerns, against one
 * server, with a healthy neighbour at work from the first to the last.
 */

let world: World
const ended: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  const dataDir = await temporaryDirectory(remove => ended.push(remove))
  world = await openWorld(dataDir)
  ended.unshift(() => world.server.kill())
})

afterAll(async () => {
  for (const end of ended) await end()
})

const tables = {
  http: httpTricks,
  connect: connectTricks,
  will: willTricks,
  'client id': clientIdTricks,
  publish: publishTricks,
  subscribe: subscribeTricks,
  'http story': httpStories,
  'mqtt story': mqttStories,
}

it('the tables hold at least 150 tricks that differ', () => {
  const all = Object.entries(tables).flatMap(([table, tricks]) =>
    tricks.map(({ name, ...tried }: Trick) => ({
      name: `${table}: ${name}`,
      tried: 'run' in tried ? name : JSON.stringify([table, tried]),
    })),
  )
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length)
  expect(new Set(all.map(({ tried }) => tried)).size).toBe(all.length)
  expect(all.length).toBeGreaterThanOrEqual(150)
})

describe('HTTP', () => {
  each(httpTricks, trick => runHttp(world, trick))
  each(httpStories, async story => {
    await story.run(world)
    await world.neighbour.probe()
  })
})

describe.each(['TCP', 'WebSocket'] as const)('MQTT over %s', (way: Way) => {
  describe('CONNECT is refused', () => each(connectTricks, trick => runConnect(world, way, trick)))
  describe('CONNECT with a will is refused', () => each(willTricks, trick => runConnect(world, way, trick)))
  describe('CONNECT disturbs nobody', () => each(clientIdTricks, trick => runTakeover(world, way, trick)))
  describe('PUBLISH does nothing', () => each(publishTricks, trick => runPublish(world, way, trick)))
  describe('SUBSCRIBE shows nothing', () => each(subscribeTricks, trick => runSubscribe(world, way, trick)))
  each(mqttStories, async story => {
    await story.run(world, way)
    await world.neighbour.probe()
  })
})

it('the neighbour was disturbed by none of them', async () => {
  await world.neighbour.expectUntouched()
  for (const thing of world.unforged) await expectUnforged(world, thing)
})

function each<Kind extends Trick>(tricks: readonly Kind[], run: (trick: Kind) => Promise<void>): void {
  for (const trick of tricks) it(trick.name, () => run(trick))
}
