import { setTimeout as delay } from 'node:timers/promises'
import { type Lock, LockLost } from '../../core/locks.ts'
import { storedForm } from '../../core/record/record.ts'
import { ThingwireError } from '../../errors.ts'
import type { Waiting } from '../commit-ticket.ts'
import type { Append, Receipt, WriteAnswer } from '../contract.ts'
import type { DocumentTexts } from '../document-texts.ts'
import { comparedOneByOne, digestOf, rememberedFor, rememberedIds } from '../resend.ts'
import type { Deadline, NumberedWrites } from './connection/numbered-writes.ts'
import type { Follower } from './log/follower.ts'
import type { LogEntry, ShortEntries } from './log/log-entry.ts'
import { encodePayload, encodePlace, encodeState } from './record-member.ts'
import { type Argument, type Reply, Script } from './script.ts'

/** An item in the queue: an append, a put of documents without an append, or a change of a lock. */
export interface RedisPendingCommit {
  readonly change: PendingChange | LockChange
  readonly ticket: Waiting
}

interface PendingChange {
  readonly write?: Append
  readonly documents: DocumentTexts
  readonly lock?: Lock | undefined
}

export type LockChange =
  | { readonly kind: 'take'; readonly lock: Lock }
  | { readonly kind: 'take'; readonly lock: Lock; readonly from: string | undefined }
  | { readonly kind: 'release'; readonly lock: Lock }

export interface Committed extends Receipt {
  /** Previous owner of a lock that was taken; undefined if the lock was free. */
  readonly before?: string | undefined
}

const commit = new Script('commit')
const noLock: Lock = { name: '', owner: '' }
/** Milliseconds. */
const longestRest = 5
const tooManyResources = -1
const isHeldElsewhere = -2

/**
 * Commits the groups of one node one after another, each in one round trip. The reply also has the log entries that the follower
 * must deliver, up to and including the group's entries. A group is valid until the first of its tickets expires. If the group was
 * not committed by then, the items that have not expired are tried again.
 */
export class RedisCommitter {
  readonly #writes: NumberedWrites
  readonly #follower: Pick<Follower, 'newestRead' | 'take'>
  /** Time of the monotonic clock (`performance.now()`) from which this node may commit again. */
  #turnAt = 0

  constructor(writes: NumberedWrites, follower: Pick<Follower, 'newestRead' | 'take'>) {
    this.#writes = writes
    this.#follower = follower
  }

  /**
   * @returns a result for each item, or an error: its ticket has expired, the thing has too many resources, or its lock is lost
   * @throws ThingwireError store_full: nothing was stored; store_timeout: the group was stored or never will be; store_unavailable
   */
  async commit(pending: readonly RedisPendingCommit[]): Promise<(Committed | Error)[]> {
    const results = new Map<RedisPendingCommit, Committed | Error>()
    for (let left = pending; left.length > 0; ) {
      const { group, givenUp } = waitedFor(left)
      for (const each of givenUp) results.set(each, new ThingwireError('store_timeout'))
      const reply = group.length > 0 ? await this.#tryGroup(group) : []
      if (reply) for (const [index, each] of group.entries()) results.set(each, outcomeIn(reply, index, each))
      left = reply ? [] : group
    }
    return pending.map(each => results.get(each) as Committed | Error)
  }

  /**
   * Nodes take turns. After a group, this node waits as long as the group took, once for each other node that has committed since
   * this node's previous group, but at most 5 ms in total. Without turns, each node under full load would send as many groups as if
   * it were alone, but smaller ones.
   *
   * @returns a promise that resolves when it is this node's turn; undefined if it is its turn now
   */
  turn(): Promise<void> | undefined {
    const left = this.#turnAt - performance.now()
    return left > 0 ? delay(left) : undefined
  }

  /** @returns the results of the group; undefined if it was not committed and can be tried again */
  async #tryGroup(group: readonly RedisPendingCommit[]): Promise<readonly Reply[] | undefined> {
    const resends = [rememberedIds, rememberedFor, comparedOneByOne]
    const args = [this.#follower.newestRead, ...resends, group.length, ...group.flatMap(argumentsOf)]
    const begin = performance.now()
    const replied = await this.#writes.run(commit, deadlineOf(group), args)
    if (!replied) return undefined
    const [reply, entries = []] = replied as unknown as readonly [
      readonly Reply[],
      (readonly (LogEntry | ShortEntries)[])?,
    ]
    const others = this.#follower.take(entries)
    const end = performance.now()
    this.#turnAt = end + Math.min(others * (end - begin), longestRest)
    return reply
  }
}

/** Splits off the items that have expired, or that follow an expired item of the same lock owner. */
function waitedFor(pending: readonly RedisPendingCommit[]) {
  const now = performance.now()
  const group: RedisPendingCommit[] = []
  const givenUp: RedisPendingCommit[] = []
  const late = new Set<string | undefined>()
  for (const each of pending) {
    const owner = each.change.lock?.owner
    if (!each.ticket.expired && each.ticket.deadline > now && !late.has(owner)) {
      group.push(each)
      continue
    }
    givenUp.push(each)
    if (owner !== undefined) late.add(owner)
  }
  return { group, givenUp }
}

function deadlineOf(group: readonly RedisPendingCommit[]): Deadline {
  const deadlines = group.map(({ ticket }) => ticket.deadline)
  return { at: Math.min(...deadlines), lastAt: Math.max(...deadlines) }
}

function outcomeIn(
  reply: readonly Reply[],
  index: number,
  { change }: RedisPendingCommit,
): Committed | Error {
  const writeNumber = reply[2 * index] as number
  const text = (reply[2 * index + 1] as Buffer).toString()
  if (writeNumber === tooManyResources) return new ThingwireError('too_many_resources')
  if (writeNumber === isHeldElsewhere) return new LockLost(change.lock ?? noLock)
  if ('kind' in change) return { writeNumber, answer: {}, before: text === '' ? undefined : text }
  const answer = text === '' ? (change.write?.answer ?? {}) : (JSON.parse(text) as WriteAnswer)
  return { writeNumber, answer }
}

/** The arguments of an item, as described in `commit.lua`. */
function argumentsOf({ change }: RedisPendingCommit): Argument[] {
  if (!('kind' in change)) return argumentsOfChange(change)
  const { kind, lock } = change
  if (kind === 'release') return [kind, lock.name, lock.owner]
  return [kind, lock.name, lock.owner, ...('from' in change ? ['from', change.from ?? ''] : ['any'])]
}

function argumentsOfChange({ write, documents, lock = noLock }: PendingChange): Argument[] {
  const args: Argument[] = [write ? 'write' : 'put', lock.name, lock.owner]
  if (write) addWrite(args, write)
  args.push(documents.length)
  for (const [name, json] of documents) args.push(name, json ?? '')
  return args
}

function addWrite(args: Argument[], write: Append): void {
  const { thingId, store, broadcast, id, answer, maximumResources } = write
  const { records, states = [] } = write
  args.push(thingId, flag(store), flag(broadcast), id === undefined ? '' : digestOf(id))
  args.push(JSON.stringify(answer), maximumResources ?? '')
  args.push(records.length)
  for (const record of records) {
    args.push(record.key, record.explicit ? record.datetime : '', encodePlace(record.place))
    args.push(encodePayload(record), JSON.stringify(record))
  }
  args.push(states.length)
  for (const { key, record } of states) {
    args.push(key, record ? encodeState(record) : '')
    args.push(JSON.stringify({ key, record: record && storedForm(record) }))
  }
}

function flag(isSet: boolean): string {
  return isSet ? '1' : ''
}
