import { setTimeout as delay } from 'node:timers/promises'
import { storedForm } from '../../core/record.ts'
import { ThingwireError } from '../../errors.ts'
import type { Append, CommitTicket, Receipt, WriteAnswer } from '../contract.ts'
import type { EncodedDocuments } from './documents.ts'
import type { Follower } from './follower.ts'
import { digestOfWriteId } from './keys.ts'
import type { LogEntry } from './log-entry.ts'
import { isPassing, type Partition } from './partition.ts'
import { encodePayload, encodeState } from './record-member.ts'
import { type Argument, type Reply, Script } from './script.ts'

/** An append in the queue, or a put of documents alone. */
export interface PendingCommit {
  readonly write?: Append
  /** In which the node leads the task of the write; absent: it has none, or the node does not lead it. */
  readonly term?: number | undefined
  readonly documents: EncodedDocuments
  readonly ticket: CommitTicket
}

const commit = new Script('commit')
const settle = new Script('settle')
/** Milliseconds. */
const retryAfter = 50
const longestRest = 5
const tooManyResources = -1
const isNotLeading = -2

/**
 * Commits groups of one node on one partition, one after another, a round trip each: the reply brings what the follower
 * has to tell up to there, too.
 *
 * When a reply is lost nobody knows whether the group was committed. Redis is asked then, as soon as it answers: it has the
 * reply of the newest group of each node. If the group was not committed, what is still waited for goes again.
 */
export class Committer {
  readonly #partition: Partition
  readonly #follower: Pick<Follower, 'newestRead' | 'take'>
  #group = 0
  /** When this node may commit again, by the monotonic clock. */
  #turnAt = 0

  /** @param partition of which this node has no other committer */
  constructor(partition: Partition, follower: Pick<Follower, 'newestRead' | 'take'>) {
    this.#partition = partition
    this.#follower = follower
  }

  /**
   * @returns the receipt of each, or an error for one that was no longer waited for, makes too many resources, or is of a task
   * that this node does not lead
   * @throws ThingwireError store_full: nothing was kept; store_unavailable; store_timeout: unknown
   */
  async commit(pending: readonly PendingCommit[]): Promise<(Receipt | Error)[]> {
    const results = new Map<PendingCommit, Receipt | Error>()
    for (let left = pending; left.length > 0; ) {
      const group = left.filter(each => !each.ticket.expired)
      for (const each of left) if (each.ticket.expired) results.set(each, new ThingwireError('store_timeout'))
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
    const number = ++this.#group
    try {
      const args = [this.#follower.newestRead, group.length, ...group.flatMap(argumentsOf)]
      const begin = performance.now()
      const replied = await this.#partition.run(commit, this.#partition.node, number, ...args)
      const [reply, entries] = replied as unknown as readonly [readonly Reply[], readonly LogEntry[]]
      const others = this.#follower.take(entries)
      const end = performance.now()
      this.#turnAt = end + Math.min(others * (end - begin), longestRest)
      return reply
    } catch (error) {
      if (!isPassing(error)) throw error
      return await this.#settle(number, group)
    }
  }

  async #settle(number: number, group: readonly PendingCommit[]): Promise<readonly Reply[] | undefined> {
    while (group.some(({ ticket }) => !ticket.expired)) {
      await delay(retryAfter)
      try {
        const reply = await this.#partition.run(settle, this.#partition.node, number)
        return (reply as readonly Reply[] | null) ?? undefined
      } catch (error) {
        if (!isPassing(error)) throw error
      }
    }
    throw new ThingwireError('store_timeout')
  }
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
    args.push(record.key, record.datetime, flag(record.explicit), placeBytes(record.place))
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

function placeBytes(place: number): Buffer {
  const bytes = Buffer.allocUnsafe(2)
  bytes.writeUInt16BE(place)
  return bytes
}
