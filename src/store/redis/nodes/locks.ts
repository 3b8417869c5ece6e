import { type Lock, LockLost, type TakenLock } from '../../../core/locks.ts'
import { promised, settle } from '../../commit-ticket.ts'
import type { CommitTicket, DriverLocks } from '../../contract.ts'
import { Listeners } from '../../listeners.ts'
import type { Committed, LockChange } from '../committer.ts'
import type { RedisDatabase } from '../connection/database.ts'
import type { Follower } from '../log/follower.ts'
import { pairsIn, type Reply, Script } from '../script.ts'

const dropLocks = new Script('drop-locks')
const readAtOnce = 500

/** The locks of this node, stored in Redis and changed by commits. The log shows when another node takes one of the locks. */
export class RedisLocks implements DriverLocks {
  readonly #database: RedisDatabase
  readonly #follower: Follower
  readonly #commit: (change: LockChange, ticket: CommitTicket<Committed>) => void
  readonly #listeners = new Listeners<(lock: Lock) => void>()
  readonly onLost = this.#listeners.listen
  /** Owners of this node's locks by lock name, according to the log. */
  readonly #own = new Map<string, string>()
  /** Owners of locks that this node is taking. An owner is removed when the log entry for its lock is read. */
  readonly #unread = new Set<string>()
  #taken = 0

  /** @param commit commits a change, in order with the other commits of the node */
  constructor(
    database: RedisDatabase,
    follower: Follower,
    commit: (change: LockChange, ticket: CommitTicket<Committed>) => void,
  ) {
    this.#database = database
    this.#follower = follower
    this.#commit = commit
    follower.listeners.onTaken(taken => this.#onTaken(taken))
    follower.listeners.onGap(() => void this.check().catch(() => {}))
  }

  take(
    name: string,
    ticket: CommitTicket<TakenLock | undefined>,
    from?: { readonly owner: string | undefined },
  ): undefined {
    const lock = { name, owner: `${this.#database.node}:${++this.#taken}` }
    this.#unread.add(lock.owner)
    const change = { kind: 'take', lock, ...(from && { from: from.owner }) } as const
    const committed = promised<Committed>(ticket, own => this.#commit(change, own))
    settle(ticket, this.#takenWith(lock, committed))
  }

  async #takenWith(lock: Lock, committed: Promise<Committed>): Promise<TakenLock | undefined> {
    try {
      const { writeNumber, before } = await committed
      await this.#follower.reached(writeNumber)
      if (this.#unread.has(lock.owner)) {
        // The entry for the lock was in a gap of the log. Another node may have taken the lock after this node.
        this.#own.set(lock.name, lock.owner)
        await this.#compare([lock])
      }
      return { ...lock, before }
    } catch (error) {
      if (error instanceof LockLost) return undefined
      throw error
    } finally {
      this.#unread.delete(lock.owner)
    }
  }

  release(lock: Lock, ticket: CommitTicket<unknown>): undefined {
    if (this.#own.get(lock.name) === lock.owner) this.#own.delete(lock.name)
    this.#commit({ kind: 'release', lock }, ticket)
  }

  /** Checks which locks this node still has, and reports lost locks. @throws ThingwireError store_unavailable */
  async check(): Promise<void> {
    const own = [...this.#own].map(([name, owner]) => ({ name, owner }))
    for (let start = 0; start < own.length; start += readAtOnce) {
      await this.#compare(own.slice(start, start + readAtOnce))
    }
  }

  /** Ends the locks of dead nodes. @throws ThingwireError store_unavailable */
  async dropOf(nodes: readonly string[]): Promise<void> {
    const { keys } = this.#database
    let cursor = '0'
    do {
      const reply = await this.#database.call('HSCAN', keys.locks, cursor, 'COUNT', readAtOnce)
      const [next, found] = reply as readonly [Buffer, Reply]
      const left = pairsIn(found).filter(([, owner]) => nodes.some(node => `${owner}`.startsWith(`${node}:`)))
      if (left.length > 0) await this.#database.run(dropLocks, ...left.flat())
      cursor = next.toString('latin1')
    } while (cursor !== '0')
  }

  #onTaken({ name, owner }: Lock): void {
    const before = this.#own.get(name)
    if (this.#unread.delete(owner)) this.#own.set(name, owner)
    else this.#own.delete(name)
    if (before !== undefined && before !== owner) this.#notify({ name, owner: before })
  }

  async #compare(locks: readonly Lock[]): Promise<void> {
    const names = locks.map(({ name }) => name)
    const { locks: key } = this.#database.keys
    const found = (await this.#database.call('HMGET', key, ...names)) as readonly (Buffer | null)[]
    for (const [index, lock] of locks.entries()) {
      const isOurs = this.#own.get(lock.name) === lock.owner
      if (!isOurs || found[index]?.toString() === lock.owner) continue
      this.#own.delete(lock.name)
      this.#notify(lock)
    }
  }

  #notify(lock: Lock): void {
    for (const listener of this.#listeners) listener(lock)
  }
}
