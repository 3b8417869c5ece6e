import type { Observer } from '../../core/observer.ts'
import { behind } from '../commit-ticket.ts'
import type { CommitTicket, DriverRecords, Receipt, WriteAnswer } from '../contract.ts'
import { toTexts } from '../document-texts.ts'
import { GroupCommit } from '../group-commit.ts'
import { digestOf, rememberedFor, rememberedIds } from '../resend.ts'
import { weigh } from '../weigh.ts'
import { readLog, trimLog } from './commit-log.ts'
import { type Committed, RedisCommitter, type RedisPendingCommit } from './committer.ts'
import type { RedisDatabase } from './connection/database.ts'
import type { NumberedWrites } from './connection/numbered-writes.ts'
import type { Follower } from './log/follower.ts'
import { aggregate } from './reading/aggregate.ts'
import { readPage } from './reading/pages.ts'
import { newestWriteNumber, remove, removeOld, removeThing } from './removals.ts'
import { readState, resourceNames, thingIds } from './resources.ts'
import { RedisSnapshot } from './snapshot.ts'

/** Maximum bytes of a group, as counted by `weigh`. While Redis commits a group, it serves no other client. */
const maximumGroupBytes = 128 * 1024

type QueuedCommit = RedisPendingCommit & { readonly ticket: CommitTicket<Committed> }

/** @param durable the same database, over a connection that waits for replicas */
export function createRecords(
  database: RedisDatabase,
  durable: RedisDatabase,
  writes: NumberedWrites,
  follower: Follower,
  observer?: Pick<Observer, 'committed'>,
) {
  const committer = new RedisCommitter(writes, follower)
  const commits = new GroupCommit<QueuedCommit, Committed>(
    committer,
    ({ change }) => ('kind' in change ? weigh(undefined, []) : weigh(change.write, change.documents)),
    maximumGroupBytes,
    () => committer.turn(),
    (changes, seconds) => observer?.committed(changes, seconds),
  )
  const alone = <T>(task: () => Promise<T>) => commits.alone(task)

  const records: DriverRecords = {
    append: (write, ticket) => {
      const change = { write, documents: toTexts(write.documents), lock: write.lock }
      commits.push({ change, ticket: behind(ticket, delivered) })
    },
    answerOf: (...write) => answerOf(database, ...write),
    read: (...page) => readPage(database, ...page),
    aggregate: (...query) => aggregate(database, ...query),
    things: page => thingIds(database, page),
    resources: thingId => resourceNames(database, thingId),
    state: (...state) => readState(database, ...state),
    snapshot: () =>
      alone(async () => {
        await hearAll()
        // The snapshot is as of the last delivered commit. Other nodes may already have made newer commits.
        return new RedisSnapshot(database, follower, follower.newestDelivered)
      }),
    catchUp: () =>
      alone(async () => {
        await hearAll()
        return follower.newestDelivered
      }),
    // Waits for replicas like a write, since removed records must not reappear after a failover.
    remove: async (...range) => {
      const { count, writeNumber } = await remove(durable, alone, ...range)
      await follower.reached(writeNumber ?? 0)
      return count
    },
    // Need not wait for replicas, since records that reappear after a failover are removed again.
    removeOld: (...piece) => removeOld(database, ...piece),
    removeThing: async thingId => {
      // Waits for earlier appends, so that they are removed too. Later appends need not wait.
      await alone(async () => {})
      await removeThing(durable, thingId)
    },
    onCommit: follower.listeners.onCommit,
    // Does nothing, since all commits are logged: another node may have to read them.
    logWhen: () => {},
    readLog: query => readLog(database, query),
    trimLog: (...entries) => trimLog(database, ...entries),
  }
  return { records, commits }

  /** Resolves after the listeners have been called for the commit. */
  async function delivered<Delivered extends Receipt>(receipt: Delivered): Promise<Delivered> {
    await follower.reached(receipt.writeNumber)
    return receipt
  }

  /** Resolves when every commit that is in the log now has been delivered. */
  async function hearAll(): Promise<void> {
    await follower.reached(await newestWriteNumber(database))
  }
}

const form = /^(\d+):(\d+):(.*)$/s

/** The answer of the thing's write with this id, if the id is still remembered at `now` (milliseconds). */
export async function answerOf(
  database: RedisDatabase,
  thingId: string,
  id: string,
  now: number,
): Promise<WriteAnswer | undefined> {
  const { keys } = database
  const found = await database.call('HMGET', keys.writeIds(thingId), digestOf(id), '#')
  const [known, newest] = found as readonly (Buffer | null)[]
  const [, ordinal, receivedAt, answer] = form.exec(known?.toString() ?? '') ?? []
  if (answer === undefined) return undefined
  const isForgotten =
    Number(ordinal) <= Number(newest) - rememberedIds || Number(receivedAt) < now - rememberedFor
  return isForgotten ? undefined : (JSON.parse(answer) as WriteAnswer)
}
