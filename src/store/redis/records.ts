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

/** Largest group that is committed as one, in bytes as `weigh` has them: bounds how long Redis does nothing else. */
const maximumGroupBytes = 128 * 1024

type QueuedCommit = RedisPendingCommit & { readonly ticket: CommitTicket<Committed> }

/**
 * The records in Redis, as one node has them.
 *
 * @param durable the same database, over the connection for what has to be durable
 * @param writes of the same database
 * @param observer called with each commit
 */
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
        // Listeners may have got more, of other nodes; what they got and what the snapshot shows must meet.
        return new RedisSnapshot(database, follower, follower.newestDelivered)
      }),
    catchUp: () =>
      alone(async () => {
        await hearAll()
        return follower.newestDelivered
      }),
    // It waits for replicas like a write: what was deleted must not come back with a failover.
    remove: async (...range) => {
      const { count, writeNumber } = await remove(durable, alone, ...range)
      await follower.reached(writeNumber ?? 0)
      return count
    },
    // What a Redis that fails forgets of it is removed again.
    removeOld: (...piece) => removeOld(database, ...piece),
    removeThing: async thingId => {
      // What was handed in before goes, too; what comes later need not wait.
      await alone(async () => {})
      await removeThing(durable, thingId)
    },
    onCommit: follower.listeners.onCommit,
    // Nothing to do: for a while all is kept, since another node may have to read it.
    logWhen: () => {},
    readLog: query => readLog(database, query),
    trimLog: (...entries) => trimLog(database, ...entries),
  }
  return { records, commits }

  /** Its listeners come first. */
  async function delivered<Delivered extends Receipt>(receipt: Delivered): Promise<Delivered> {
    await follower.reached(receipt.writeNumber)
    return receipt
  }

  /** Resolves when everything that is in the log now was delivered. */
  async function hearAll(): Promise<void> {
    await follower.reached(await newestWriteNumber(database))
  }
}

const form = /^(\d+):(\d+):(.*)$/s

/** The answer of the write of the thing that carried the id, if it is remembered at `now`. */
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
