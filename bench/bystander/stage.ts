import { hash, randomBytes } from 'node:crypto'
import { createLevelStore } from '../../src/store/level/index.ts'
import { openThings, type ThingsParts } from '../../src/things.ts'
import type { Thing } from '../../test/helpers/http-client.ts'

/** What the attacks find in the store. */
export interface Stage {
  readonly adminKey: string
  readonly bystander: Thing
  /** 90 of them, each with 20 resources and a position. */
  readonly crowd: readonly Thing[]
  /** 10,000 resources, of which `k0` to `k19` have a record of 1970 too. */
  readonly wide: Thing
  /** 500,000 records of `deep`, and settings of nearly 64 KiB. */
  readonly long: Thing
  /** Nothing yet. */
  readonly empty: Thing
}

const counts = { things: 100_000, crowd: 90, codes: 100_000, sessions: 2_000, thingsOfSession: 1_000 }
const [retained, atOnce, recordsOfWrite] = [100_000, 1_000, 10_000]
/** Milliseconds between two records. */
const gap = 60_000
export const deep = { records: 500_000, end: Date.UTC(2026, 0, 1), gap }

/** Fills a store as far as limits allow: a server under attack is one that has been used for years. */
export async function fillStage(location: string): Promise<Stage> {
  const adminKey = randomBytes(32).toString('hex')
  const limits = { writesPerSecond: 1e9, recordsPerSecond: 1e9 }
  const store = createLevelStore({ location })
  const service = await openThings({ store, adminKey, limits, storeTimeout: 600_000 })
  const create = (name: string) => service.registry.create({ name })
  const [bystander, wide, long, empty] = await Promise.all(['bystander', 'wide', 'long', 'empty'].map(create))
  const crowd = await Promise.all(range(counts.crowd, place => create(`c${place}`)))
  if (!bystander || !wide || !long || !empty) throw new Error('a thing was not created')
  const write = async ({ thingId }: Thing, values: readonly object[]) => {
    const body = Buffer.from(JSON.stringify({ values }))
    await service.ingest.write({ thingId, door: 'http', body, options: {} })
  }
  const keys = range(20, place => `k${place}`)
  for (const [place, thing] of crowd.entries()) {
    const geo = { key: '$geo', value: [place - 45, 40] }
    await write(thing, [...keys.map(key => ({ key, value: 20.5 })), geo])
  }
  const oneOfEach = range(recordsOfWrite - 1, place => ({ key: `k${place}`, value: place }))
  await write(wide, oneOfEach)
  const first = keys.map(key => ({ key, value: 1, datetime: '19700101000000' }))
  await write(wide, first)
  for (let from = 0; from < deep.records; from += recordsOfWrite) {
    const at = (place: number) => new Date(deep.end - (deep.records - from - place) * gap).toISOString()
    const record = (place: number) => ({ key: 'deep', value: 20 + (place % 97) / 8, datetime: at(place) })
    await write(long, range(recordsOfWrite, record))
  }
  const members = Object.fromEntries(range(3_000, place => [`member${place}`, place]))
  await write(long, [{ key: '$settings', value: members }])
  await putDocuments(service)
  await service.close()
  return { adminKey, bystander, crowd, wide, long, empty }
}

export function range<Item>(length: number, make: (place: number) => Item): Item[] {
  return Array.from({ length }, (_, place) => make(place))
}

/** Many of each kind, as their registries keep them: through these it would take hours. */
async function putDocuments({ documents }: ThingsParts): Promise<void> {
  const now = Date.now()
  const ids = range(counts.things, thingIdOf)
  const things = ids.slice(0, counts.thingsOfSession)
  const session = { things, access: 'read', createdAt: now, expiresAt: now + 1e10 }
  const random = (bytes: number) => randomBytes(bytes).toString('hex')
  const kinds: readonly (readonly [count: number, make: (place: number) => readonly [string, object]])[] = [
    [counts.things, at => [`things/${ids[at]}`, { name: `meter ${at}`, createdAt: now, tokens: [] }]],
    [counts.codes, () => [`activation-codes/${random(17)}`, { createdAt: now, usesLeft: 1 }]],
    [counts.sessions, () => [`sessions/${random(9)}`, { ...session, hash: random(32) }]],
    [retained, at => [`topic-retained/${hash('sha256', topicOf(at))}`, retainedOn(topicOf(at))]],
  ]
  for (const [count, make] of kinds) {
    for (let from = 0; from < count; from += atOnce) {
      const some = Object.fromEntries(range(Math.min(atOnce, count - from), place => make(from + place)))
      await documents.put(some as Parameters<typeof documents.put>[0], 'keep')
    }
  }
}

function topicOf(place: number): string {
  return `tele/site${place % 100}/d${place}/STATE`
}

function retainedOn(topic: string): object {
  return { topic, payload: 'eyJvbiI6MX0=', qos: 0 }
}

/** The thing id that stands for a number (contract §1). */
function thingIdOf(number: number): string {
  const digits = number.toString(32).padStart(16, '0')
  return digits.replace(/./g, digit => 'abcdefghijklmnopqrstuvwxyz234567'.charAt(Number.parseInt(digit, 32)))
}
