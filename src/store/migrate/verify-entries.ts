import type { Commit, Document } from '../contract.ts'
import { decodeCommit } from '../level/commit-log.ts'
import {
  allEmptiedKeys,
  allRefusedKeys,
  allStateKeys,
  allWriteIdOrderKeys,
  documentKeys,
  logKeys,
  nameInDocumentKey,
  namesInThingKey,
  thingInKey,
} from '../level/keys.ts'
import { decodeState } from '../level/states.ts'
import { readLog } from '../redis/commit-log.ts'
import type { RedisDatabase } from '../redis/connection/database.ts'
import { readState } from '../redis/resources.ts'
import { differs } from './differs.ts'
import type { Move } from './stages.ts'
import { movedWriteIds } from './write-ids.ts'

/** Each compares one kind of what was moved, but for records, and says how many there are. All throw as `differs`. */

export async function verifyStates({ source }: Move, database: RedisDatabase): Promise<number> {
  let count = 0
  for await (const entries of source.entries(allStateKeys)) {
    const comparing = entries.map(async ([name, bytes]) => {
      const { thingId, key } = namesInThingKey(name)
      const there = await readState(database, thingId, key)
      if (JSON.stringify(there) === JSON.stringify(decodeState(key, bytes))) return
      differs(`state ${key} of thing ${thingId}`, 'it', there ? 'another' : 'none')
    })
    await Promise.all(comparing)
    count += entries.length
  }
  return count
}

export async function verifyDocuments(
  { source, documentOf }: Move,
  database: RedisDatabase,
): Promise<number> {
  let count = 0
  for await (const entries of source.entries(documentKeys(''))) {
    const moved = entries.flatMap(([key, bytes]): [name: string, json: string][] => {
      const name = nameInDocumentKey(key)
      const document = documentOf(name, JSON.parse(bytes.toString()) as Document)
      return document ? [[name, JSON.stringify(document)]] : []
    })
    if (moved.length === 0) continue
    const names = moved.map(([name]) => name)
    const there = (await database.call('HMGET', database.keys.documents, ...names)) as (Buffer | null)[]
    const different = moved.find(([, json], index) => there[index]?.toString() !== json)
    // Their names can hold what a client chose: they are not for a terminal.
    if (different) differs(`a document`, 'it', 'another or none')
    count += moved.length
  }
  const listed = Number(await database.call('ZCARD', database.keys.documentNames))
  if (listed !== count) differs('the documents', `${count}`, `${listed}`)
  return count
}

/** Of write numbers it is their order that is moved, so each is compared as it is in Redis. */
export async function verifyLog({ source, numberOf }: Move, database: RedisDatabase): Promise<number> {
  let count = 0
  let after = 0
  for await (const entries of source.entries(logKeys)) {
    const here = entries.map(([key, bytes]) => {
      const commit = decodeCommit(key, bytes)
      return textOf({ ...commit, writeNumber: numberOf(commit.writeNumber) })
    })
    while (here.length > 0) {
      const query = { after, before: Number.POSITIVE_INFINITY, order: 'asc', limit: here.length } as const
      const there = await readLog(database, query)
      const expected = here.splice(0, Math.max(there.length, 1))
      if (there.map(textOf).join('\n') !== expected.join('\n')) differs('the commit log', 'it', 'another')
      after = there.at(-1)?.writeNumber ?? after
      count += there.length
    }
  }
  const there = Number(await database.call('XLEN', database.keys.log))
  if (there !== count) differs('the commit log', `${count} entries`, `${there}`)
  return count
}

export async function verifyEmptied({ source }: Move, database: RedisDatabase): Promise<void> {
  for await (const entries of source.entries(allEmptiedKeys)) {
    const comparing = entries.map(async ([name]) => {
      const { thingId, key } = namesInThingKey(name)
      const isThere = (await database.call('SISMEMBER', database.keys.emptied(thingId), key)) === 1
      if (!isThere) differs(`resource ${key} of thing ${thingId}`, 'no records any more', 'never had one')
    })
    await Promise.all(comparing)
  }
}

export async function verifyWriteIds({ source }: Move, database: RedisDatabase): Promise<number> {
  const { keys } = database
  let count = 0
  for await (const entries of source.entries(allWriteIdOrderKeys)) {
    const moved = await movedWriteIds(source, entries)
    const comparing = moved.map(async ({ thingId, digest, ordinal, text }) => {
      const there = await database.call('HGET', keys.writeIds(thingId), digest)
      const order = await database.call('ZSCORE', keys.writeIdOrder(thingId), digest)
      if (String(there) === text && Number(order) === ordinal) return
      differs(`a write id of thing ${thingId}`, 'it', there ? 'another answer' : 'none')
    })
    await Promise.all(comparing)
    count += moved.length
  }
  return count
}

export async function verifyRefused({ source }: Move, database: RedisDatabase): Promise<number> {
  let count = 0
  let ofThing: { readonly thingId: string; readonly newestFirst: string[] } | undefined
  const compare = async () => {
    if (!ofThing) return
    const { thingId, newestFirst } = ofThing
    const there = (await database.call('LRANGE', database.keys.refused(thingId), 0, -1)) as readonly Buffer[]
    if (there.map(String).join('\n') === newestFirst.join('\n')) return
    differs(`the refused writes of thing ${thingId}`, `${newestFirst.length}`, `${there.length}, or others`)
  }
  for await (const entries of source.entries(allRefusedKeys)) {
    for (const [name, json] of entries) {
      const thingId = thingInKey(name)
      if (thingId !== ofThing?.thingId) {
        await compare()
        ofThing = { thingId, newestFirst: [] }
      }
      ofThing.newestFirst.unshift(json.toString())
    }
    count += entries.length
  }
  await compare()
  return count
}

function textOf(commit: Commit): string {
  const { thingId, writeNumber, receivedAt, broadcast, stored, records, latest } = commit
  return JSON.stringify([thingId, writeNumber, receivedAt, broadcast, stored, records, latest])
}
