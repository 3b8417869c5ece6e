import { isDeepStrictEqual } from 'node:util'
import { keptRefusals } from '../../core/refusals/refused-write.ts'
import type { Server } from '../../server/index.ts'
import { counted, table } from '../output.ts'
import type { Passage, SentWrite } from './history.ts'
import type { InstrumentRecord } from './instruments.ts'
import { place, rate } from './report.ts'
import { call, readLatest, readRecords } from './service.ts'
import { positionKey } from './voyage.ts'
import type { Watcher } from './watcher.ts'

/**
 * Compares the records that were sent with those seen live and those stored, and prints the result.
 *
 * @returns whether every record was seen live in order and reads back as it was sent, and whether every refused write is listed
 */
export async function prove(
  server: Server,
  passages: readonly Passage[],
  watcher: Watcher,
): Promise<boolean> {
  const seen = await seenLive(passages, watcher)
  const positions = await positionFault(server, passages, watcher)
  const rows: string[][] = []
  let isRight = positions === undefined
  for (const [at, passage] of passages.entries()) {
    const { instrument, writes } = passage
    const stored = await storedFault(server, passage)
    const refused = await refusedFault(server, passage)
    isRight &&= seen[at] === undefined && stored === undefined && refused === undefined
    const sentRefused = writes.filter(({ measurement }) => measurement.isRefused).length
    rows.push([
      instrument.name,
      instrument.door,
      ...rate(passage),
      seen[at] ?? 'each once, in order',
      stored ?? 'every value equal',
      refused ?? (sentRefused === 0 ? 'none' : `${sentRefused}, all listed`),
    ])
  }
  const head = ['thing', 'door', 'records', 'records/s', 'seen live', 'read back', 'refused writes']
  console.log(`\n${table(head, rows)}`)
  const count = counted(watcher.positions.length, 'position')
  console.log(`\n${count} seen live. ${positions ?? `The last is the latest: ${placeOfLast(watcher)}`}`)
  return isRight
}

/** @returns for each passage: what is wrong with the readings that were seen live; undefined if nothing is wrong */
async function seenLive(
  passages: readonly Passage[],
  watcher: Watcher,
): Promise<readonly (string | undefined)[]> {
  const sent = passages.map(({ writes }) => writes.flatMap(readingsOf).length)
  const last = lastPosition(passages)
  const isAll = () =>
    passages.every(
      ({ instrument }, at) => watcher.readingsOf(instrument.thingId).length >= (sent[at] ?? 0),
    ) && isDeepStrictEqual(watcher.positions.at(-1), last)
  // A timeout is not an error here: the comparison reports what has not arrived.
  await watcher.until(isAll).catch(() => {})
  await watcher.close()
  return passages.map(({ instrument, writes }) => faultIn(watcher.readingsOf(instrument.thingId), writes))
}

async function positionFault(
  server: Server,
  passages: readonly Passage[],
  watcher: Watcher,
): Promise<string | undefined> {
  const last = lastPosition(passages)
  const boat = passages.find(({ instrument }) => instrument.keys.includes(positionKey))
  const path = `${server.url}/v2/things/${boat?.instrument.thingToken}/resources/${positionKey}`
  const latest = await readLatest(path)
  if (!isDeepStrictEqual(latest, last)) return `REST says ${place(latest)}, NOT ${place(last)}`
  if (!isDeepStrictEqual(watcher.positions.at(-1), last)) return `The last is NOT ${place(last)}`
  return undefined
}

async function storedFault(server: Server, { instrument, writes }: Passage): Promise<string | undefined> {
  // Several writes were under way at the same time, so `writes` is in the order of acknowledgements. Sort their records by time.
  const sent = writes
    .filter(({ measurement }) => !measurement.isRefused)
    .flatMap(({ measurement }) => measurement.records)
    .sort((one, other) => Number(one.datetime > other.datetime) - Number(one.datetime < other.datetime))
  for (const key of instrument.keys) {
    const stored = await readRecords(`${server.url}/v2/things/${instrument.thingToken}/resources/${key}`)
    const wanted = sent.filter(record => record.key === key)
    if (!isDeepStrictEqual(stored, wanted)) return `${key} DIFFERENT: ${stored.length} of ${wanted.length}`
  }
  return undefined
}

async function refusedFault(server: Server, { instrument, writes }: Passage): Promise<string | undefined> {
  const sent = writes.filter(({ measurement }) => measurement.isRefused).length
  const listed = await call<object[]>(
    `${server.url}/v2/things/${instrument.thingToken}/errors?limit=${keptRefusals}`,
  )
  const wanted = Math.min(sent, keptRefusals)
  return listed.length === wanted ? undefined : `${listed.length} listed of ${wanted}`
}

function lastPosition(passages: readonly Passage[]): InstrumentRecord | undefined {
  const positions = passages
    .flatMap(({ writes }) => writes.flatMap(({ measurement }) => measurement.records))
    .filter(({ key }) => key === positionKey)
  return positions.reduce<InstrumentRecord | undefined>(
    (latest, each) => (latest && latest.datetime > each.datetime ? latest : each),
    undefined,
  )
}

function placeOfLast({ positions }: Watcher): string {
  return place(positions.at(-1))
}

/**
 * Checks that every reading has arrived once and in order. The readings of a write must be together and in the order of the write.
 * If one write was acknowledged before another was sent, the first must arrive before the second.
 *
 * @returns what is wrong; undefined if nothing is wrong
 */
export function faultIn(
  arrived: readonly InstrumentRecord[],
  writes: readonly SentWrite[],
): string | undefined {
  const awaited = new Map(
    writes.filter(write => !write.measurement.isRefused).map(write => [nameOf(readingsOf(write)[0]), write]),
  )
  let newestSent = 0
  for (let place = 0; place < arrived.length; ) {
    const name = nameOf(arrived[place])
    const write = awaited.get(name)
    if (!write) return `${name} arrived where no write begins, or again`
    awaited.delete(name)
    const readings = readingsOf(write)
    if (!isDeepStrictEqual(arrived.slice(place, place + readings.length), readings)) {
      return `the write of ${name} did not arrive as it was sent`
    }
    if (write.acknowledgedAt < newestSent) return `${name} arrived after a write that was sent later`
    newestSent = Math.max(newestSent, write.sentAt)
    place += readings.length
  }
  return awaited.size > 0 ? `${awaited.size} writes did not arrive` : undefined
}

/** The readings of a write, without positions: a position is delivered when it becomes the thing's position, not with its write. */
export function readingsOf({ measurement }: Pick<SentWrite, 'measurement'>): readonly InstrumentRecord[] {
  return measurement.isRefused ? [] : measurement.records.filter(({ key }) => key !== positionKey)
}

/** Names a record. The name is unique, since the voyage has only one record of a resource at each time. */
function nameOf(record: InstrumentRecord | undefined): string {
  return `${record?.key} at ${record?.datetime}`
}
