import { expect } from 'vitest'
import { ask } from '../helpers/http-client.ts'
import { readAndWrite, type Source } from './cast.ts'
import { login, subackIn, textsOf, untilClosed, untilText } from './clients.ts'
import { isolationTests, type Way, type World } from './world.ts'

const { mqtt } = isolationTests()

/** Sources beside one another, a thing and a session. */

mqtt(
  'each source has things of its own, on topics that lie apart and on those that it shares',
  async (world, way) => {
    const { operator } = world
    const base = nextBase(way)
    const first = await operator.createSource('first', [`${base}/#`])
    const second = await operator.createSource('second', [`${base}/pump/#`], true)
    const apart = await operator.createSource('apart', [`${nextBase(way)}/#`])
    const clients = []
    for (const { sourceToken } of [first, second, apart]) clients.push(await login(world, way, sourceToken))
    const [ofFirst, ofSecond, ofApart] = clients
    expect(await ofSecond?.subscribe(`${base}/pump/#`, 1)).toBe(1)
    const filters = [`${base}/#`]
    expect(await ofApart?.subscribeAll(filters)).toEqual(subackIn(way, filters, [128]))
    await ofFirst?.publish(`${base}/pump/pressure`, '1')
    await ofFirst?.publish(`${base}/lamp/power`, '2')
    // What a source hears of another one is not read for it.
    if (ofSecond) await untilText(ofSecond, '1')
    expect(await valuesOf(world, first)).toEqual({ pump: [1], lamp: [2] })
    expect(await valuesOf(world, second)).toEqual({})
    await ofSecond?.publish(`${base}/pump/pressure`, '3')
    expect(await valuesOf(world, first)).toEqual({ pump: [1], lamp: [2] })
    expect(await valuesOf(world, second)).toEqual({ pump: [3] })
    expect(await valuesOf(world, apart)).toEqual({})
    for (const client of clients) await client.disconnect()
  },
)

mqtt(
  'a thing, a session and the operator plant nothing in a source whose topics they may write',
  async (world, way) => {
    const { operator } = world
    const base = nextBase(way)
    const source = await operator.createSource('planted', [`${base}/#`])
    const topics = readAndWrite(`${base}/#`)
    const thing = await operator.createThing()
    await operator.setTopics(thing, topics)
    const session = await operator.createSession({ things: [], access: 'write', topics })
    const listener = await login(world, way, source.sourceToken)
    expect(await listener.subscribe(`${base}/#`, 1)).toBe(1)
    const credentials = [thing.thingToken, session.sessionToken, operator.adminKey]
    for (const [place, credential] of credentials.entries()) {
      const client = await login(world, way, credential)
      await client.publish(`${base}/pump/pressure`, String(place), { retain: true })
      await untilText(listener, String(place))
      await client.disconnect()
    }
    expect(await valuesOf(world, source)).toEqual({})
    // Nor does it read what is retained when it comes.
    const late = await login(world, way, source.sourceToken)
    expect(await late.subscribe(`${base}/#`, 1)).toBe(1)
    await untilText(late, '2')
    expect(await valuesOf(world, source)).toEqual({})
    await late.publish(`${base}/pump/pressure`, '', { retain: true })
    for (const client of [listener, late]) await client.disconnect()
  },
)

mqtt(
  'whoever had topics of a source that is narrowed or removed is closed, and hears nothing there again',
  async (world, way) => {
    const { operator } = world
    const base = nextBase(way)
    const source = await operator.createSource('narrowed', [`${base}/#`])
    const topics = readAndWrite(`${base}/lamp/#`)
    const thing = await operator.createThing()
    await operator.setTopics(thing, topics)
    const session = await operator.createSession({ things: [], access: 'write', topics })
    const kept = { clientId: 'kept', clean: false }
    const others = [thing.thingToken, session.sessionToken]
    const connect = async () => {
      const clients = []
      for (const credential of others) clients.push(await login(world, way, credential, kept))
      return clients
    }
    const device = await login(world, way, source.sourceToken, kept)
    expect(await device.subscribe(`${base}/#`, 1)).toBe(1)
    const before = await connect()
    for (const client of before) expect(await client.subscribe(`${base}/lamp/#`, 1)).toBe(1)
    await operator.changeSource(source, { topics: [`${base}/pump/#`] })
    for (const client of [device, ...before]) await untilClosed(client, way)
    const narrowed = await login(world, way, source.sourceToken, kept)
    // Its session goes on, without the filter that lies outside.
    expect(narrowed.connack.sessionPresent).toBe(true)
    const filters = [`${base}/lamp/#`, `${base}/pump/#`]
    expect(await narrowed.subscribeAll(filters, 1)).toEqual(subackIn(way, filters, [128, 1]))
    for (const client of await connect()) {
      expect(await client.subscribeAll([`${base}/lamp/#`])).toEqual(subackIn(way, [`${base}/lamp/#`], [128]))
      await client.disconnect()
    }
    await operator.changeSource(source, { topics: [`${base}/#`] })
    await untilClosed(narrowed, way)
    const again = await connect()
    for (const client of again) expect(await client.subscribe(`${base}/lamp/#`, 1)).toBe(1)
    const last = await login(world, way, source.sourceToken, kept)
    await last.publish(`${base}/lamp/power`, 'heard')
    for (const client of again) {
      await untilText(client, 'heard')
      expect(await textsOf(client)).toEqual(['heard'])
    }
    await operator.removeSource(source)
    for (const client of [last, ...again]) await untilClosed(client, way)
    expect(await valuesOf(world, source)).toEqual({ lamp: ['heard'] })
  },
)

mqtt(
  'a persistent session of a source is neither stolen nor read by another with its client id',
  async (world, way) => {
    const { operator } = world
    const [base, other] = [nextBase(way), nextBase(way)]
    const source = await operator.createSource('kept', [`${base}/#`])
    const thief = await operator.createSource('thief', [`${other}/#`])
    const kept = { clientId: 'kept', clean: false }
    const first = await login(world, way, source.sourceToken, kept)
    expect(await first.subscribe(`${base}/#`, 1)).toBe(1)
    await first.disconnect()
    const device = await login(world, way, source.sourceToken, { clientId: 'device' })
    await device.publish(`${base}/pump/pressure`, '1')
    await device.disconnect()
    const session = await operator.createSession({ things: '*', access: 'read' })
    for (const credential of [thief.sourceToken, session.sessionToken]) {
      const stolen = await login(world, way, credential, kept)
      expect(stolen.connack.sessionPresent).toBe(false)
      expect(await textsOf(stolen)).toEqual([])
      await stolen.disconnect()
    }
    const back = await login(world, way, source.sourceToken, kept)
    expect(back.connack.sessionPresent).toBe(true)
    await untilText(back, '1')
    await back.disconnect()
  },
)

let bases = 0

/** Topics that nobody has yet; the second level is as the pattern of the sources wants it. */
function nextBase({ transport, protocolVersion }: Way): string {
  return `estate/${transport}-${protocolVersion}-${bases++}`
}

/** The values of all things of a source, by device. */
async function valuesOf({ server }: World, { sourceId }: Source): Promise<object> {
  const asAdmin = <Answer>(path: string) => ask<Answer>(server, 'GET', path)
  const { things } = await asAdmin<{ things: Made[] }>(`/v2/admin/things?source=${sourceId}`)
  const values: [string, unknown[]][] = []
  for (const { thingId, source } of things) {
    const all = await asAdmin<Written[]>(`/v2/things/${thingId}/all_resources?limit=100`)
    values.push([source.device, all.flatMap(resource => resource.values.map(({ value }) => value))])
  }
  return Object.fromEntries(values)
}

interface Made {
  readonly thingId: string
  readonly source: { readonly device: string }
}

interface Written {
  readonly values: readonly { readonly value: unknown }[]
}
