import { type Lock, LockLost } from '../../core/locks.ts'
import type { RemovedOld, TimeRange } from '../contract.ts'
import { comparedOneByOne } from '../resend.ts'
import { fenceOf } from './commit-log.ts'
import type { RedisDatabase } from './connection/database.ts'
import { Script } from './script.ts'

const removeScript = new Script('remove')
const removePieceOfThing = new Script('remove-thing')
const removePieceOfLog = new Script('remove-log')

/**
 * Removes records of a resource that were stored before the call, a piece at a time from the oldest on, so that appends
 * continue in between. The newest record is removed in the same commit that delivers the new latest record. If a crash
 * interrupts a removal, calling it again finishes it.
 *
 * @param alone implements `GroupCommit.alone`
 * @returns how many records were removed, and the write number of the commit, if there was one
 * @throws ThingwireError store_unavailable
 */
export async function remove(
  database: RedisDatabase,
  alone: <T>(task: () => Promise<T>) => Promise<T>,
  thingId: string,
  key: string,
  range: TimeRange,
): Promise<{ count: number; writeNumber: number | undefined }> {
  const lastWrite = await alone(() => newestWriteNumber(database))
  const to = range.to === undefined ? '+inf' : `(${range.to}`
  let from = String(range.from ?? '-inf')
  let count = 0
  let writeNumber: number | undefined
  while (from !== '') {
    const piece = await removePiece(database, thingId, key, from, to, lastWrite, '')
    count += piece.count
    if (piece.writeNumber > 0) writeNumber = piece.writeNumber
    from = piece.next
  }
  return { count, writeNumber }
}

/** Implements `RecordStore.removeOld`. @throws LockLost @throws ThingwireError store_unavailable */
export async function removeOld(
  database: RedisDatabase,
  thingId: string,
  key: string,
  before: number,
  from = '-inf',
  lock?: Lock,
): Promise<RemovedOld> {
  const lastWrite = Number.MAX_SAFE_INTEGER
  const to = `(${before}`
  const { count, next } = await removePiece(database, thingId, key, from, to, lastWrite, 'keep-newest', lock)
  if (lock && count < 0) throw new LockLost(lock)
  return next === '' ? { count } : { count, next }
}

/** Calls remove.lua. */
async function removePiece(
  database: RedisDatabase,
  thingId: string,
  key: string,
  from: string,
  to: string,
  lastWrite: number,
  keep: 'keep-newest' | '',
  lock?: Lock,
) {
  const args = [thingId, key, from, to, lastWrite, database.node, keep, comparedOneByOne, ...fenceOf(lock)]
  const [count, next, writeNumber] = (await database.run(removeScript, ...args)) as readonly [
    number,
    Buffer,
    number,
  ]
  return { count, next: next.toString('latin1'), writeNumber }
}

/** Removes a thing in pieces. If a crash interrupts this, calling it again finishes it. @throws ThingwireError store_unavailable */
export async function removeThing(database: RedisDatabase, thingId: string): Promise<void> {
  while ((await database.run(removePieceOfThing, thingId)) === 1) {}
  const to = `${await newestWriteNumber(database)}-0`
  let from = '-'
  while (from !== '') from = String(await database.run(removePieceOfLog, thingId, from, to))
}

/** @throws ThingwireError store_unavailable */
export async function newestWriteNumber(database: RedisDatabase): Promise<number> {
  return Number((await database.call('HGET', database.keys.head, 'number')) ?? 0)
}
