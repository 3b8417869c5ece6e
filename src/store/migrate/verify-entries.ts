import type { Commit, Document } from '../contract.ts'
import type { Entry } from '../level/database/scan.ts'
import { keysOf, nameInDocumentKey, namesInThingKey, prefix, thingInKey } from '../level/keys.ts'
import { decodeCommit } from '../level/log/commit-log.ts'
import { decodeState } from '../level/states.ts'
import { readLog } from '../redis/commit-log.ts'
import type { RedisDatabase } from '../redis/connection/database.ts'
import { readState } from '../redis/resources.ts'
import type { Move } from './stages.ts'
import { movedWriteIds } from './write-ids.ts'

/** @throws Error for the operator, which names the difference */
export function differs(what: string, here: string, there: string): never {
  throw new Error(
    `the two stores differ in ${what}: the embedded store has ${here}, Redis has ${there}. No server starts on the store in Redis: remove its keys, and migrate again`,
  )
}

/** Each `verify…` function compares one kind of entry, and returns the number of entries. All throw like `differs`. */

export function verifyStates(move: Move, database: RedisDatabase): Promise<number> {
  return countOf(move, prefix.state, async entries => {
    const comparing = entries.map(async ([name, bytes]) => {
      const { thingId, key } = namesInThingKey(name)
      const there = await readState(database, thingId, key)
      if (JSON.stringify(there) === JSON.stringify(decodeState(key, bytes))) return
      differs(`state ${key} of thing ${thingId}`, 'it', there ? 'another' : 'none')
    })
    return (await Promise.all(comparing)).length
  })
}

export async function verifyDocuments(move: Move, database: RedisDatabase): Promise<number> {
  const count = await countOf(move, prefix.document, async entries => {
    const moved = entries.flatMap(([key, bytes]): [name: string, json: string][] => {
      const name = nameInDocumentKey(key)
      const document = move.documentOf(name, JSON.parse(bytes.toString()) as Document)
      return document ? [[name, JSON.stringify(document)]] : []
    })
    if (moved.length === 0) return 0
    const names = moved.map(([name]) => name)
    const there = (await database.call('HMGET', database.keys.documents, ...names)) as (Buffer | null)[]
    const different = moved.find(([, json], index) => there[index]?.toString() !== json)
    // The error does not contain the name, since a client may have chosen it.
    if (different) differs(`a document`, 'it', 'another or none')
    return moved.length
  })
  const listed = Number(await database.call('ZCARD', database.keys.documentNames))
  if (listed !== count) differs('the documents', `${count}`, `${listed}`)
  return count
}

/** Compares write numbers in their converted form. */
export async function verifyLog(move: Move, database: RedisDatabase): Promise<number> {
  let after = 0
  const count = await countOf(move, prefix.log, async entries => {
    const here = entries.map(([key, bytes]) => {
      const commit = decodeCommit(key, bytes)
      return textOf({ ...commit, writeNumber: move.numberOf(commit.writeNumber) })
    })
    while (here.length > 0) {
      const query = { after, before: Number.POSITIVE_INFINITY, order: 'asc', limit: here.length } as const
      const there = await readLog(database, query)
      const expected = here.splice(0, Math.max(there.length, 1))
      if (there.map(textOf).join('\n') !== expected.join('\n')) differs('the commit log', 'it', 'another')
      after = there.at(-1)?.writeNumber ?? after
    }
    return entries.length
  })
  const there = Number(await database.call('XLEN', database.keys.log))
  if (there !== count) differs('the commit log', `${count} entries`, `${there}`)
  return count
}

export function verifyEmptied(move: Move, database: RedisDatabase): Promise<number> {
  return countOf(move, prefix.emptied, async entries => {
    const comparing = entries.map(async ([name]) => {
      const { thingId, key } = namesInThingKey(name)
      const isThere = (await database.call('SISMEMBER', database.keys.emptied(thingId), key)) === 1
      if (!isThere) differs(`resource ${key} of thing ${thingId}`, 'no records left', 'never had one')
    })
    return (await Promise.all(comparing)).length
  })
}

export function verifyWriteIds(move: Move, database: RedisDatabase): Promise<number> {
  const { keys } = database
  return countOf(move, prefix.writeIdOrder, async entries => {
    const moved = await movedWriteIds(move.source, entries)
    const comparing = moved.map(async ({ thingId, digest, ordinal, text }) => {
      const there = await database.call('HGET', keys.writeIds(thingId), digest)
      const order = await database.call('ZSCORE', keys.writeIdOrder(thingId), digest)
      if (String(there) === text && Number(order) === ordinal) return
      differs(`a write id of thing ${thingId}`, 'it', there ? 'another answer' : 'none')
    })
    return (await Promise.all(comparing)).length
  })
}

export async function verifyRefused(move: Move, database: RedisDatabase): Promise<number> {
  let ofThing: { readonly thingId: string; readonly newestFirst: string[] } | undefined
  const compare = async () => {
    if (!ofThing) return
    const { thingId, newestFirst } = ofThing
    const there = (await database.call('LRANGE', database.keys.refused(thingId), 0, -1)) as readonly Buffer[]
    if (there.map(String).join('\n') === newestFirst.join('\n')) return
    differs(`the refused writes of thing ${thingId}`, `${newestFirst.length}`, `${there.length}, or others`)
  }
  const count = await countOf(move, prefix.refused, async entries => {
    for (const [name, json] of entries) {
      const thingId = thingInKey(name)
      if (thingId !== ofThing?.thingId) {
        await compare()
        ofThing = { thingId, newestFirst: [] }
      }
      ofThing.newestFirst.unshift(json.toString())
    }
    return entries.length
  })
  await compare()
  return count
}

/** Calls `compare` with all entries of a kind, in batches. @returns the sum of the results */
async function countOf(
  { source }: Move,
  kind: string,
  compare: (entries: readonly Entry[]) => Promise<number>,
): Promise<number> {
  let count = 0
  for await (const entries of source.entries(keysOf(kind))) count += await compare(entries)
  return count
}

function textOf(commit: Commit): string {
  const { thingId, writeNumber, receivedAt, broadcast, stored, records, latest } = commit
  return JSON.stringify([thingId, writeNumber, receivedAt, broadcast, stored, records, latest])
}
