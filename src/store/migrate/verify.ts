import { createHash } from 'node:crypto'
import type { Document, Page, PageQuery } from '../contract.ts'
import { allStateKeys, documentKeys, logKeys, nameInDocumentKey, namesInThingKey } from '../level/keys.ts'
import { readPage as readSource } from '../level/read.ts'
import { decodeState } from '../level/states.ts'
import { readPage as readTarget } from '../redis/pages.ts'
import type { Partition } from '../redis/partition.ts'
import { readState } from '../redis/resources.ts'
import type { Move } from './stages.ts'

/** What was moved, as it was counted on both sides. */
export interface Verified {
  readonly records: number
  readonly resources: number
  readonly states: number
  readonly documents: number
  readonly commits: number
  /** SHA-256 over datetime, value and position of every record, resource by resource. */
  readonly digest: string
}

interface Digest {
  readonly count: number
  readonly sha256: string
}

const pageSize = 1_000
const resourcesAtOnce = 8

/**
 * Reads both sides anew and compares them: of each resource the number of its records, and a SHA-256 over their datetimes,
 * values and positions in order; states, documents and the number of logged commits.
 *
 * @param onRecords told how many records more were read
 * @throws Error for the operator, naming what differs. ThingwireError store_unavailable
 */
export async function verify(
  move: Move,
  partition: Partition,
  onRecords: (count: number) => void,
): Promise<Verified> {
  const records = await verifyRecords(move, partition, onRecords)
  return {
    ...records,
    resources: move.source.resources.size,
    states: await verifyStates(move, partition),
    documents: await verifyDocuments(move, partition),
    commits: await verifyLog(move, partition),
  }
}

async function verifyRecords(
  { source }: Move,
  partition: Partition,
  onRecords: (count: number) => void,
): Promise<Pick<Verified, 'records' | 'digest'>> {
  const all = createHash('sha256')
  const resources = [...source.resources]
  let records = 0
  for (let at = 0; at < resources.length; at += resourcesAtOnce) {
    const comparing = resources.slice(at, at + resourcesAtOnce).map(async ([number, { thingId, key }]) => {
      const [here, there] = await Promise.all([
        digestOf(query => readSource(source.database, number, key, query)),
        digestOf(query => readTarget(partition, thingId, key, query), onRecords),
      ])
      if (here.count !== there.count || here.sha256 !== there.sha256) {
        differs(`resource ${key} of thing ${thingId}`, `${here.count} records`, `${there.count}`)
      }
      return here
    })
    for (const { count, sha256 } of await Promise.all(comparing)) {
      records += count
      all.update(sha256)
    }
  }
  return { records, digest: all.digest('hex') }
}

async function digestOf(
  read: (query: PageQuery) => Promise<Page | undefined>,
  onRecords: (count: number) => void = () => {},
): Promise<Digest> {
  const hash = createHash('sha256')
  let count = 0
  let page = await read({ order: 'asc', limit: pageSize })
  while (page) {
    const lines = page.records.map(({ datetime, value, geo }) => {
      return `${datetime} ${value} ${geo ? `${geo.lat},${geo.long}` : ''}\n`
    })
    hash.update(lines.join(''))
    count += lines.length
    onRecords(lines.length)
    const { next }: Page = page
    page = next === undefined ? undefined : await read({ order: 'asc', limit: pageSize, cursor: next })
  }
  return { count, sha256: hash.digest('hex') }
}

async function verifyStates({ source }: Move, partition: Partition): Promise<number> {
  let count = 0
  for await (const entries of source.entries(allStateKeys)) {
    const comparing = entries.map(async ([name, bytes]) => {
      const { thingId, key } = namesInThingKey(name)
      const there = await readState(partition, thingId, key)
      if (JSON.stringify(there) === JSON.stringify(decodeState(key, bytes))) return
      differs(`state ${key} of thing ${thingId}`, 'it', there ? 'another' : 'none')
    })
    await Promise.all(comparing)
    count += entries.length
  }
  return count
}

async function verifyDocuments({ source, documentOf }: Move, partition: Partition): Promise<number> {
  let count = 0
  for await (const entries of source.entries(documentKeys(''))) {
    const moved = entries.flatMap(([key, bytes]): [name: string, json: string][] => {
      const name = nameInDocumentKey(key)
      const document = documentOf(name, JSON.parse(bytes.toString()) as Document)
      return document ? [[name, JSON.stringify(document)]] : []
    })
    if (moved.length === 0) continue
    const names = moved.map(([name]) => name)
    const there = (await partition.call('HMGET', partition.keys.documents, ...names)) as (Buffer | null)[]
    const different = moved.find(([, json], index) => there[index]?.toString() !== json)
    // Their names can hold what a client chose: they are not for a terminal.
    if (different) differs(`a document`, 'it', 'another or none')
    count += moved.length
  }
  const listed = Number(await partition.call('ZCARD', partition.keys.documentNames))
  if (listed !== count) differs('the documents', `${count}`, `${listed}`)
  return count
}

async function verifyLog({ source }: Move, partition: Partition): Promise<number> {
  let count = 0
  for await (const entries of source.entries(logKeys)) count += entries.length
  const there = Number(await partition.call('XLEN', partition.keys.log))
  if (there !== count) differs('the commit log', `${count} entries`, `${there}`)
  return count
}

function differs(what: string, here: string, there: string): never {
  throw new Error(
    `not the same on both sides: ${what}: the embedded store has ${here}, Redis ${there}. Nothing was opened to servers: remove the keys in Redis, and migrate again`,
  )
}
