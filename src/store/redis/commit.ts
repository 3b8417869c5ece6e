import { setTimeout as delay } from 'node:timers/promises'
import { storedForm } from '../../core/record.ts'
import { ThingwireError } from '../../errors.ts'
import type { Waiting } from '../commit-ticket.ts'
import type { Append, Receipt, WriteAnswer } from '../contract.ts'
import { digestOfWriteId } from '../write-id.ts'
import type { EncodedDocuments } from './documents.ts'
import type { Follower } from './follower.ts'
import type { LogEntry, ShortEntries } from './log-entry.ts'
import type { Deadline, NumberedWrites } from './numbered-writes.ts'
import { encodePayload, encodePlace, encodeState } from './record-member.ts'
import { type Argument, type Reply, Script } from './script.ts'

/** An append in the queue, or a put of documents alone. */
export interface PendingCommit {
  readonly write?: Append
  /** In which the node leads the task of the write; absent: it has none, or the node does not lead it. */
  readonly term?: number | undefined
  readonly documents: EncodedDocuments
  readonly ticket: Waiting
}

const commit = new Script('commit')
/** Milliseconds. */
const longestRest = 5
const tooManyResources = -1
const isNotLeading = -2

/**
 * Commits groups of one node on one partition, one after another, a round trip each: the reply brings what the follower
 * has to tell up to there, too. A group counts for as long as all of it is waited for; if it was not committed, what is
 * still waited for goes again.
 */
export class Committer {
  readonly #writes: NumberedWrites
  readonly #follower: Pick<Follower, 'newestRead' | 'take'>
  /** When this node may commit again, by the monotonic clock. */
  #turnAt = 0

  constructor(writes: NumberedWrites, follower: Pick<Follower, 'newestRead' | 'take'>) {
    this.#writes = writes
    this.#follower = follower
  }

  /**
   * @returns the receipt of each, or an error for one that was no longer waited for, makes too many resources, or is of a task
   * that this node does not lead
   * @throws ThingwireError store_full: nothing was kept; store_unavailable; store_timeout: unknown, but nothing will be kept
   * that is not yet
   */
  async commit(pending: readonly PendingCommit[]): Promise<(Receipt | Error)[]> {
    const results = new Map<PendingCommit, Receipt | Error>()
    for (let left = pending; left.length > 0; ) {
      const now = performance.now()
      const group = left.filter(({ ticket }) => ticket.deadline > now)
      for (const each of left) {
        if (each.ticket.deadline <= now) results.set(each, new ThingwireError('store_timeout'))
      }
      const reply = group.length > 0 ? await this.#tryGroup(group) : []
      if (reply) for (const [index, each] of group.entries()) results.set(each, receiptIn(reply, index, each))
      left = reply ? [] : group
    }
    return pending.map(each => results.get(each) as Receipt | Error)
  }

  /**
   * Nodes take turns: after a group, behind which others have committed, a node leaves them the time that it took. At full
   * pace each would otherwise make as many groups as one does alone, only smaller, for Redis to do one after another.
   *
   * @returns resolves when it is this node's turn; undefined: it is
   */
  turn(): Promise<void> | undefined {
    const left = this.#turnAt - performance.now()
    return left > 0 ? delay(left) : undefined
  }

  /** @returns undefined if the group was not committed and is to be tried again */
  async #tryGroup(group: readonly PendingCommit[]): Promise<readonly Reply[] | undefined> {
    const args = [this.#follower.newestRead, group.length, ...group.flatMap(argumentsOf)]
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

function deadlineOf(group: readonly PendingCommit[]): Deadline {
  const deadlines = group.map(({ ticket }) => ticket.deadline)
  return { at: Math.min(...deadlines), lastAt: Math.max(...deadlines) }
}

function receiptIn(reply: readonly Reply[], index: number, { write }: PendingCommit): Receipt | Error {
  const writeNumber = reply[2 * index] as number
  const firstAnswer = (reply[2 * index + 1] as Buffer).toString()
  if (writeNumber === tooManyResources) return new ThingwireError('too_many_resources')
  if (writeNumber === isNotLeading) {
    return new ThingwireError('store_unavailable', `this node does not lead ${write?.lead} any more`)
  }
  const answer = firstAnswer === '' ? (write?.answer ?? {}) : (JSON.parse(firstAnswer) as WriteAnswer)
  return { writeNumber, answer }
}

/** As `commit.lua` reads them. */
function argumentsOf({ write, term, documents }: PendingCommit): Argument[] {
  const args: Argument[] = []
  if (write) addWrite(args, write, term)
  else args.push('')
  args.push(documents.length)
  for (const [name, json] of documents) args.push(name, json ?? '')
  return args
}

function addWrite(args: Argument[], write: Append, term: number | undefined): void {
  const { thingId, receivedAt, store, broadcast, id, answer, maximumResources, lead } = write
  const { records, states = [] } = write
  args.push(thingId, receivedAt, flag(store), flag(broadcast), id === undefined ? '' : digestOfWriteId(id))
  args.push(JSON.stringify(answer), maximumResources ?? '', lead ?? '', term ?? '')
  args.push(records.length)
  for (const record of records) {
    args.push(record.key, record.datetime, flag(record.explicit), encodePlace(record.place))
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
