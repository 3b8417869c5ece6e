import { type Hold, HoldLost, type TakenHold } from '../../../core/holds.ts'
import { promised, settle } from '../../commit-ticket.ts'
import type { CommitTicket, DriverHolds } from '../../contract.ts'
import { Listeners } from '../../listeners.ts'
import type { Committed, HoldChange } from '../committer.ts'
import type { RedisDatabase } from '../connection/database.ts'
import type { Follower } from '../log/follower.ts'
import { pairsIn, type Reply, Script } from '../script.ts'

const dropHolds = new Script('drop-holds')
const readAtOnce = 500

/** The holds of this node, which are in Redis and change in its commits; of those that others take it hears by the log. */
export class RedisHolds implements DriverHolds {
  readonly #database: RedisDatabase
  readonly #follower: Follower
  readonly #commit: (change: HoldChange, ticket: CommitTicket<Committed>) => void
  readonly #listeners = new Listeners<(hold: Hold) => void>()
  readonly onLost = this.#listeners.listen
  /** Of this node, by name, as the log has told them. */
  readonly #own = new Map<string, string>()
  /** Holders of this node whose taking the log has not told. */
  readonly #untold = new Set<string>()
  #taken = 0

  /** @param commit commits a change in order with all else that the node commits */
  constructor(
    database: RedisDatabase,
    follower: Follower,
    commit: (change: HoldChange, ticket: CommitTicket<Committed>) => void,
  ) {
    this.#database = database
    this.#follower = follower
    this.#commit = commit
    follower.listeners.onTaken(taken => this.#onTaken(taken))
    follower.listeners.onGap(() => void this.check().catch(() => {}))
  }

  take(
    name: string,
    ticket: CommitTicket<TakenHold | undefined>,
    from?: { readonly holder: string | undefined },
  ): undefined {
    const hold = { name, holder: `${this.#database.node}:${++this.#taken}` }
    this.#untold.add(hold.holder)
    const change = { kind: 'take', hold, ...(from && { from: from.holder }) } as const
    const committed = promised<Committed>(ticket, own => this.#commit(change, own))
    settle(ticket, this.#takenWith(hold, committed))
  }

  async #takenWith(hold: Hold, committed: Promise<Committed>): Promise<TakenHold | undefined> {
    try {
      const { writeNumber, before } = await committed
      await this.#follower.reached(writeNumber)
      if (this.#untold.has(hold.holder)) await this.#lookAt(hold)
      return { ...hold, before }
    } catch (error) {
      if (error instanceof HoldLost) return undefined
      throw error
    } finally {
      this.#untold.delete(hold.holder)
    }
  }

  release(hold: Hold, ticket: CommitTicket<unknown>): undefined {
    if (this.#own.get(hold.name) === hold.holder) this.#own.delete(hold.name)
    this.#commit({ kind: 'release', hold }, ticket)
  }

  /** Looks which holds are still those of this node. @throws ThingwireError store_unavailable */
  async check(): Promise<void> {
    const own = [...this.#own].map(([name, holder]) => ({ name, holder }))
    for (let start = 0; start < own.length; start += readAtOnce) {
      await this.#compare(own.slice(start, start + readAtOnce))
    }
  }

  /** Ends the holds of nodes that are not there any more. @throws ThingwireError store_unavailable */
  async dropOf(nodes: readonly string[]): Promise<void> {
    const { keys } = this.#database
    let cursor = '0'
    do {
      const reply = await this.#database.call('HSCAN', keys.holds, cursor, 'COUNT', readAtOnce)
      const [next, found] = reply as readonly [Buffer, Reply]
      const left = pairsIn(found).filter(([, holder]) =>
        nodes.some(node => `${holder}`.startsWith(`${node}:`)),
      )
      if (left.length > 0) await this.#database.run(dropHolds, ...left.flat())
      cursor = next.toString('latin1')
    } while (cursor !== '0')
  }

  #onTaken({ name, holder }: Hold): void {
    const before = this.#own.get(name)
    if (this.#untold.delete(holder)) this.#own.set(name, holder)
    else this.#own.delete(name)
    if (before !== undefined && before !== holder) this.#tell({ name, holder: before })
  }

  /** The log was not told without a gap, and another node may have it by now. */
  async #lookAt(hold: Hold): Promise<void> {
    this.#own.set(hold.name, hold.holder)
    await this.#compare([hold])
  }

  async #compare(holds: readonly Hold[]): Promise<void> {
    const names = holds.map(({ name }) => name)
    const found = (await this.#database.call(
      'HMGET',
      this.#database.keys.holds,
      ...names,
    )) as readonly (Buffer | null)[]
    for (const [index, hold] of holds.entries()) {
      const isOurs = this.#own.get(hold.name) === hold.holder
      if (!isOurs || found[index]?.toString() === hold.holder) continue
      this.#own.delete(hold.name)
      this.#tell(hold)
    }
  }

  #tell(hold: Hold): void {
    for (const listener of this.#listeners) listener(hold)
  }
}
