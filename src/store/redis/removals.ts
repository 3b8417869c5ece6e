import { type Lock, LockLost } from '../../core/locks.ts'
import type { RemovedOld, TimeRange } from '../contract.ts'
import { comparedOneByOne } from '../resend.ts'
import { fenceOf } from './commit-log.ts'
import type { RedisDatabase } from './connection/database.ts'
import { Script } from './script.ts'

const removePiece = new Script('remove')
const removePieceOfThing = new Script('remove-thing')
const removePieceOfLog = new Script('remove-log')

/** What came of a removal. */
export interface Removed {
  /** How many records were removed. */
  readonly count: number
  /** Of the commit that delivers the new latest state; undefined: nothing is delivered. */
  readonly writeNumber: number | undefined
}

/**
 * Removes records of a resource that were stored before the call, a piece at a time, from the oldest on, so that
 * appends go on in between. The newest one goes with the state that is delivered. A crash leaves a removal half done; calling it
 * again finishes it.
 *
 * @param alone runs a task when everything that was handed to the group commit before is committed
 * @throws ThingwireError store_unavailable
 */
export async function remove(
  database: RedisDatabase,
  alone: <T>(task: () => Promise<T>) => Promise<T>,
  thingId: string,
  key: string,
  range: TimeRange,
): Promise<Removed> {
  const lastMeant = await alone(() => newestWriteNumber(database))
  const to = range.to === undefined ? '+inf' : `(${range.to}`
  let from = String(range.from ?? '-inf')
  let count = 0
  let writeNumber: number | undefined
  while (from !== '') {
    const reply = await database.run(
      removePiece,
      thingId,
      key,
      from,
      to,
      lastMeant,
      database.node,
      '',
      comparedOneByOne,
      ...fenceOf(undefined),
    )
    const [removed, next, number] = reply as PieceReply
    count += removed
    if (number > 0) writeNumber = number
    from = next.toString('latin1')
  }
  return { count, writeNumber }
}

/** How many records were removed, where the next piece begins (nothing: nowhere), and the write number of the commit. */
type PieceReply = readonly [number, Buffer, number]

/** As `RecordStore.removeOld`. @throws LockLost @throws ThingwireError store_unavailable */
export async function removeOld(
  database: RedisDatabase,
  thingId: string,
  key: string,
  before: number,
  from = '-inf',
  lock?: Lock,
): Promise<RemovedOld> {
  const { node } = database
  const reply = await database.run(
    removePiece,
    thingId,
    key,
    from,
    `(${before}`,
    Number.MAX_SAFE_INTEGER,
    node,
    'keep-newest',
    comparedOneByOne,
    ...fenceOf(lock),
  )
  const [count, next] = reply as PieceReply
  if (lock && count < 0) throw new LockLost(lock)
  return next.length > 0 ? { count, next: next.toString('latin1') } : { count }
}

/**
 * Removes all of a thing, a piece at a time, and delivers nothing. Can be called again after a crash.
 *
 * @throws ThingwireError store_unavailable
 */
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
