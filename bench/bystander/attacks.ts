import { request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { Changes } from '../../test/helpers/changes.ts'
import { ask, type Thing } from '../../test/helpers/http-client.ts'
import type { ServerProcess } from '../../test/helpers/server-process.ts'
import { openLink } from '../../test/soak/mqtt-link.ts'
import { startWriting, steadily } from '../load/writes.ts'
import { deep, range, type Stage } from './stage.ts'

export interface Scene {
  readonly server: ServerProcess
  readonly stage: Stage
  /** Of the round, from 0: what an attack writes is new in each. */
  readonly round: number
}

/** Writes of a second: ten times `writesPerSecond`, of which the burst is used up at once. */
const excess = 10_000
/** Milliseconds. */
const excessTime = 2_000
const everyFunction = 'aggregate=avg,min,max,sum,count,first,last'
const daysOfApia = `${everyFunction}&interval=1d&tz=Pacific/Apia&empty=true`
const wideKeys = range(20, place => `k${place}`).join()

/** How many times which path is asked for at once. */
const reads: Readonly<Record<string, readonly [times: number, path: (stage: Stage) => string]>> = {
  'aggregates: 60 × 20 keys, 1d of Apia, empty': [
    60,
    ({ wide }) => `/v2/things/${wide.thingId}/aggregates?keys=${wideKeys}&${daysOfApia}&limit=2000`,
  ],
  'intervals: 60 × 10,000 empty days of Apia': [
    60,
    ({ wide }) => `/v2/things/${wide.thingId}/resources/k0?${daysOfApia}&limit=10000`,
  ],
  'intervals: 60 × 10,000 of 500,000 records': [60, deepBy('interval=10m&limit=10000')],
  'intervals: 300 × 100 of 500,000 records, at once': [300, deepBy('interval=83m&limit=100')],
  'intervals: 300 × 100 long ones of 500,000 records, at once': [300, deepBy('interval=1007m&limit=100')],
  'pages: 100 × 1,000 records of the oldest': [100, stage => `${deepPath(stage)}?order=asc&limit=1000`],
  'all_resources: 20 × 10,000 resources': [
    20,
    ({ wide }) => `/v2/things/${wide.thingId}/all_resources?limit=10`,
  ],
  'things: 40 × name and bbox over 100,000': [
    40,
    () => '/v2/things?limit=1000&name=meter%209&bbox=-180,-90,180,90',
  ],
  'sessions: 10 × 1,000 of 1,000 things': [10, () => '/v2/admin/sessions?limit=1000'],
  'activation codes: 10 × 100,000': [10, () => '/v2/admin/activation-codes'],
}

/** Each resolves when what was asked for is answered. */
export const attacks: Readonly<Record<string, (scene: Scene) => Promise<unknown>>> = {
  ...Object.fromEntries(
    Object.entries(reads).map(([name, [times, path]]) => [
      name,
      (scene: Scene) => many(times, () => send(scene, path(scene.stage))),
    ]),
  ),
  'points: 60 × 10,000, by as many sessions': async scene => {
    const minted = { things: [scene.stage.long.thingId], access: 'read' }
    const sessions = await many(60, () =>
      ask<{ sessionToken: string }>(scene.server, 'POST', '/v2/admin/sessions', minted),
    )
    const path = `/v2/things/${scene.stage.long.thingId}/resources/deep?points=10000&tz=America/Denver`
    return await Promise.all(
      sessions.map(({ sessionToken }) => send(scene, path, { headers: { authorization: sessionToken } })),
    )
  },
  'CSV: 20 × 500,000 records': scene =>
    many(20, () => send(scene, deepPath(scene.stage), { headers: { accept: 'text/csv' } })),
  'refusals: 100 × 100 refusals of 20 errors': async scene => {
    const { thingToken } = scene.stage.empty
    const bad = { values: range(10_000, place => ({ key: `bad key ${place}`, value: 'x'.repeat(40) })) }
    await many(20, () => post(scene, scene.stage.empty, bad))
    await many(100, () => send(scene, `/v2/things/${thingToken}/errors`))
  },
  'writes: 10 × 10,000 records, late': scene => {
    const at = (place: number) => new Date(deep.end - place * 2 * deep.gap + scene.round + 1).toISOString()
    return many(10, each => {
      const values = range(10_000, place => ({ key: 'deep', value: each, datetime: at(place * 10 + each) }))
      return post(scene, scene.stage.long, { values })
    })
  },
  'DELETE: 100,000 records in 20 ranges': scene => {
    const from = deep.end - (scene.round + 1) * 20 * 5_000 * deep.gap
    const at = (place: number) => new Date(from + place * 5_000 * deep.gap).toISOString()
    return many(20, place =>
      send(scene, `${deepPath(scene.stage)}?startDate=${at(place)}&endDate=${at(place + 1)}`, {
        method: 'DELETE',
      }),
    )
  },
  '$settings: 200 members of 64 KiB, one by one': scene =>
    many(200, place => {
      const value = { key: `$settings.member${place}`, value: scene.round }
      return post(scene, scene.stage.long, { values: [value] })
    }),
  'subscribe: 50 × 90 things, and leave': scene => {
    const filters = scene.stage.crowd.map(({ thingId }) => `things/${thingId}/#`)
    return many(50, () => subscribeAndLeave(scene, [filters]))
  },
  'subscribe: 50 × 90 things one by one, persistent': scene => {
    const filters = scene.stage.crowd.map(({ thingId }) => [`things/${thingId}/values/+`])
    return many(50, place => subscribeAndLeave(scene, filters, { clean: false, clientId: `p${place}` }))
  },
  'retained view: 20 × values/+ over 10,000 resources': scene =>
    many(20, () => subscribeAndLeave(scene, [[`things/${scene.stage.wide.thingId}/values/+`]], {}, 9_999)),
  'retained view: 20 × 50 filters of every thing': scene =>
    many(20, () => subscribeAndLeave(scene, [range(50, place => `things/+/values/k${place}`)])),
  'session of 1,000 things: 20 × 100 filters': async scene => {
    const page = '/v2/admin/things?limit=1000'
    const { things } = await ask<{ things: readonly Pick<Thing, 'thingId'>[] }>(scene.server, 'GET', page)
    const minted = { things: things.map(({ thingId }) => thingId), access: 'read' }
    const { sessionToken } = await ask<{ sessionToken: string }>(
      scene.server,
      'POST',
      '/v2/admin/sessions',
      minted,
    )
    const filters = range(100, place => [`things/+/values/k${place}`])
    await many(20, () => subscribeAndLeave(scene, filters, { password: sessionToken }))
  },
  'connects: 1,000 at once, and leave': scene =>
    many(1_000, place => subscribeAndLeave(scene, [], { clientId: `c${place}` })),
  'excess: ten times the writes of one thing over MQTT': async ({ server, stage }) => {
    const load = await startWriting(steadily(server.mqttUrl, [stage.long.thingToken], excess))
    await delay(excessTime)
    // What is not acked then, is not owed: it waits for the rate of the thing.
    await load.abort()
  },
  'excess: ten times the writes of one thing over HTTP': scene =>
    many(excess, () => post(scene, scene.stage.long, { values: [{ key: 'n', value: 21.5 }] })),
  'wills: 40 of 2,800 records at once': async scene => {
    const { thingToken: password, thingId } = scene.stage.empty
    const values = range(2_800, () => ({ key: 'w', value: scene.round % 10 }))
    const will = { topic: `things/${thingId}/write`, payload: { values }, qos: 1 as const }
    const setup = { url: scene.server.mqttUrl, password, will }
    // A client whose will of the round before still waits for the rate of the thing is refused.
    const opened = await Promise.allSettled(range(40, place => openLink({ ...setup, clientId: `w${place}` })))
    await Promise.all(opened.map(async link => link.status === 'fulfilled' && (await link.value.destroy())))
  },
  'other topics: 20 × 100 wildcard filters over 100,000 retained': scene =>
    many(20, () => subscribeAndLeave(scene, [range(100, place => `tele/site${place}/+/STATE`)])),
}

function many<Result>(count: number, once: (place: number) => Promise<Result>): Promise<Result[]> {
  return Promise.all(range(count, once))
}

function deepPath({ long }: Stage): string {
  return `/v2/things/${long.thingId}/resources/deep`
}

function deepBy(query: string) {
  return (stage: Stage) => `${deepPath(stage)}?${everyFunction}&${query}`
}

interface Sent {
  readonly method?: string
  readonly headers?: object
  readonly body?: string
}

/** Asks with the admin key, and keeps nothing of the answer. @throws Error unless it is one of success or a limit */
function send({ server, stage }: Scene, path: string, { method = 'GET', headers, body }: Sent = {}) {
  return new Promise<void>((resolve, reject) => {
    const sent = { method, agent: false, headers: { authorization: stage.adminKey, ...headers } } as const
    const outgoing = request(`${server.url}${path}`, sent, incoming => {
      const { statusCode = 0 } = incoming
      incoming.on('error', reject).resume()
      const isExpected = statusCode < 300 || [400, 429, 503].includes(statusCode)
      incoming.on('end', () => (isExpected ? resolve() : reject(new Error(`${path}: ${statusCode}`))))
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

function post(scene: Scene, { thingToken }: Thing, body: object): Promise<void> {
  return send(scene, `/v2/things/${thingToken}`, { method: 'POST', body: JSON.stringify(body) })
}

/** Subscribes, packet by packet, waits for so many messages, takes the filters back and goes. */
async function subscribeAndLeave(
  { server, stage }: Scene,
  packets: readonly (readonly string[])[],
  setup: { readonly clientId?: string; readonly clean?: boolean; readonly password?: string } = {},
  messages = 0,
): Promise<void> {
  let received = 0
  const changes = new Changes()
  const onMessage = () => {
    received++
    changes.tell()
  }
  const clientId = `s${Math.random()}`
  const login = { url: server.mqttUrl, clientId, password: stage.adminKey, ...setup }
  const link = await openLink({ ...login, onMessage })
  await Promise.all(packets.map(filters => link.subscribeAll(filters, 0)))
  await changes.until(() => received >= messages)
  await Promise.all(packets.map(filters => link.unsubscribe(...filters)))
  await link.disconnect()
}
