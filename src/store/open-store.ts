import { randomUUID } from 'node:crypto'
import { promiseOf, settle, type Ticket } from '../core/async/ticket.ts'
import { type Lock, LockLost, type Locks, type TakenLock } from '../core/locks.ts'
import type { Nodes } from '../core/nodes.ts'
import type {
  Append,
  CommitTicket,
  DriverLocks,
  DriverRecords,
  Receipt,
  RecordStore,
  Snapshot,
  Store,
  StoreDriver,
} from './contract.ts'
import { LifeCycle } from './guard/life-cycle.ts'
import { TimeLimit } from './guard/time-limit.ts'
import { Listeners } from './listeners.ts'

export interface OpenStoreOptions {
  /** Maximum time in milliseconds that an append or a put waits for its commit (contract §4). */
  readonly storeTimeout?: number
}

/** Default of `storeTimeout`, milliseconds (contract §4). */
export const defaultStoreTimeout = 5_000

/** Opens a driver. Adds `LifeCycle`, `TimeLimit`, and the handling of repeated writes. @throws errors of `driver.open` */
export async function openStore(driver: StoreDriver, options: OpenStoreOptions = {}): Promise<Store> {
  await driver.open()
  const life = new LifeCycle()
  const { records, documents, refused } = driver
  const snapshots = new OpenSnapshots(life)
  const limit = new TimeLimit(options.storeTimeout ?? defaultStoreTimeout, life)
  const appends = new PendingAppends((write, ticket) => records.append(write, ticket), limit)
  const sole = new SoleLocks(randomUUID(), () => records.catchUp())
  const nodes = driver.nodes ?? soleNode(sole)
  const locks = driver.locks ? limited(driver.locks, limit) : sole
  // The driver of a shared store checks locks itself, in its commits.
  const assertHeld = (lock: Lock | undefined) => {
    if (!driver.locks) sole.assertHeld(lock)
  }
  const submit: RecordStore['submit'] = (write, ticket) => {
    try {
      life.assertOpen()
      assertHeld(write.lock)
    } catch (error) {
      return ticket.reject(error)
    }
    appends.submit(write, ticket)
  }
  const guarded: RecordStore = {
    append: write => promiseOf(ticket => submit(write, ticket)),
    submit,
    answerOf: (thingId, id, now) =>
      life.run(
        async () =>
          (await appends.inFlight(thingId, id))?.answer ?? (await records.answerOf(thingId, id, now)),
      ),
    read: (...query) => life.run(() => records.read(...query)),
    aggregate: (thingId, key, query) => life.run(() => records.aggregate(thingId, key, query, life.ending)),
    things: page => life.run(() => records.things(page)),
    resources: thingId => life.run(() => records.resources(thingId)),
    state: (thingId, key) => life.run(() => records.state(thingId, key)),
    snapshot: () => life.run(async () => snapshots.guard(await records.snapshot())),
    catchUp: () => life.run(() => records.catchUp()),
    remove: (...range) => life.run(() => records.remove(...range)),
    removeOld: (thingId, key, before, from, lock) =>
      life.run(async () => {
        assertHeld(lock)
        return await records.removeOld(thingId, key, before, from, lock)
      }),
    removeThing: thingId => life.run(() => records.removeThing(thingId)),
    onCommit: listener => records.onCommit(listener),
    logWhen: isWanted => records.logWhen(isWanted),
    readLog: query => life.run(() => records.readLog(query)),
    trimLog: (writeNumbers, lock) =>
      life.run(async () => {
        assertHeld(lock)
        await records.trimLog(writeNumbers, lock)
      }),
  }
  return {
    capabilities: driver.capabilities,
    nodes,
    locks: {
      take: name => life.run(() => locks.take(name)),
      takeFrom: (...from) => life.run(() => locks.takeFrom(...from)),
      release: lock => life.run(() => locks.release(lock)),
      onLost: listener => locks.onLost(listener),
    },
    clock: driver.clock,
    records: guarded,
    documents: {
      get: name => life.run(() => documents.get(name)),
      getInOrder: name =>
        life.run(() =>
          documents.transact([name], ([document]) => ({ put: {}, result: document, purpose: 'essential' })),
        ),
      list: (...query) => life.run(() => documents.list(...query)),
      names: (...query) => life.run(() => documents.names(...query)),
      put: (put, purpose, lock) =>
        life.run(async () => {
          assertHeld(lock)
          await promiseOf(ticket => limit.run(ticket, own => documents.put(put, purpose, own, lock), lock))
        }),
      transact: (...change) => life.run(() => documents.transact(...change)),
    },
    refused: {
      add: (...entry) => life.run(() => refused.add(...entry)),
      list: (...query) => life.run(() => refused.list(...query)),
    },
    backup: () => life.stream(() => driver.backup()),
    size: () => life.run(() => driver.size()),
    isReady: () => !life.closed && driver.isReady(),
    close: () =>
      life.close(async () => {
        limit.close()
        await snapshots.close()
        await driver.close()
      }),
  }
}

/** The locks of a driver, with the time limit for `take`, `takeFrom` and `release`. */
function limited(locks: DriverLocks, limit: TimeLimit): Locks {
  const take = (name: string, from?: { readonly owner: string | undefined }) =>
    promiseOf<TakenLock | undefined>(ticket => limit.run(ticket, own => locks.take(name, own, from)))
  return {
    take: async name => {
      const taken = await take(name)
      if (!taken) throw new Error(`the driver did not take ${name}`)
      return taken
    },
    takeFrom: (name, owner) => take(name, { owner }),
    release: async lock => {
      await promiseOf(ticket => limit.run(ticket, own => locks.release(lock, own)))
    },
    onLost: listener => locks.onLost(listener),
  }
}

/** The nodes of a store that only this process has open: this process leads every task. */
export function soleNode(locks: SoleLocks): Nodes {
  const { node: self } = locks
  return {
    self,
    isAlone: true,
    alive: async () => new Set([self]),
    lead: (task, work) => {
      const stopping = new AbortController()
      const working = work(stopping.signal, locks.begin(`task/${task}`))
      return async () => {
        stopping.abort()
        await working
      }
    },
    onDocuments: () => () => {},
    onRefused: () => () => {},
    send: () => {},
    listen: async () => () => {},
    onGap: () => () => {},
    logBounds: async () => ({
      completeAfter: Number.POSITIVE_INFINITY,
      trimmableTo: Number.POSITIVE_INFINITY,
    }),
    hasLogged: async () => true,
  }
}

/** The open snapshots of a store. `close` does not wait for readers, since a reader may keep a snapshot for any length of time. */
class OpenSnapshots {
  readonly #store: LifeCycle
  readonly #open = new Set<Snapshot>()

  constructor(store: LifeCycle) {
    this.#store = store
  }

  /** Wraps a driver's snapshot: it is closed at most once, and can be read only while the snapshot and the store are open. */
  guard(snapshot: Snapshot): Snapshot {
    const life = new LifeCycle()
    const guarded: Snapshot = {
      writeNumber: snapshot.writeNumber,
      latest: query => this.#store.stream(() => life.stream(() => snapshot.latest(query))),
      close: () =>
        this.#store.waitFor(
          life.close(async () => {
            this.#open.delete(guarded)
            await snapshot.close()
          }),
        ),
    }
    this.#open.add(guarded)
    return guarded
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open].map(snapshot => snapshot.close()))
  }
}

/** Appends in flight. A copy (an append with the same id, without documents) settles as the first append does. */
class PendingAppends {
  readonly #append: DriverRecords['append']
  readonly #limit: TimeLimit
  /** Each entry stays until the driver has settled the append, which may be after the first caller's time limit. */
  readonly #byWriteId = new Map<string, Promise<Receipt>>()

  constructor(append: DriverRecords['append'], limit: TimeLimit) {
    this.#append = append
    this.#limit = limit
  }

  /** The receipt of the write in flight with this id; undefined if no such write is in flight. */
  inFlight(thingId: string, id: string): Promise<Receipt> | undefined {
    const first = this.#byWriteId.get(nameOf(thingId, id))
    return first && promiseOf(ticket => this.#limit.run(ticket, own => settle(own, first)))
  }

  submit(write: Append, ticket: Ticket<Receipt>): undefined {
    const { thingId, id, documents, lock } = write
    if (id === undefined) return this.#limit.run(ticket, own => this.#append(write, own), lock)
    // A repeat with documents is not a copy: the driver gets it after the first write, because its own documents take effect.
    const copied = documents ? undefined : this.inFlight(thingId, id)
    if (copied) {
      return settle(
        ticket,
        copied.then(({ answer }) => ({ writeNumber: 0, answer })),
      )
    }
    const begin = (limited: CommitTicket<Receipt>) => {
      const name = nameOf(thingId, id)
      const settled = () => {
        if (this.#byWriteId.get(name) === newest) this.#byWriteId.delete(name)
      }
      let copies: Ticket<Receipt> | undefined
      const newest = promiseOf<Receipt>(ticket => {
        copies = ticket
      })
      this.#append(write, {
        get expired() {
          return limited.expired
        },
        deadline: limited.deadline,
        resolve: receipt => {
          limited.resolve(receipt)
          copies?.resolve(receipt)
        },
        // Rejects synchronously, so that later calls with the same lock fail before they commit, and the caller can reuse the id.
        reject: error => {
          settled()
          limited.reject(error)
          copies?.reject(error)
        },
      })
      this.#byWriteId.set(name, newest)
      newest.then(settled, settled)
    }
    this.#limit.run(ticket, begin, lock)
  }
}

function nameOf(thingId: string, id: string): string {
  return `${thingId} ${id}`
}

/** Locks in memory, for a store that only one process uses. Calls commit in order, so a check when a call begins is enough. */
export class SoleLocks implements Locks {
  readonly node: string
  readonly #committed: () => Promise<unknown>
  readonly #owners = new Map<string, string>()
  readonly #listeners = new Listeners<(lock: Lock) => void>()
  readonly onLost = this.#listeners.listen
  #taken = 0

  /** @param node unique name of this process @param committed resolves when all earlier calls are committed */
  constructor(node: string, committed: () => Promise<unknown>) {
    this.node = node
    this.#committed = committed
  }

  isHeld({ name, owner }: Lock): boolean {
    return this.#owners.get(name) === owner
  }

  /** @throws LockLost */
  assertHeld(lock: Lock | undefined): void {
    if (lock && !this.isHeld(lock)) throw new LockLost(lock)
  }

  async take(name: string): Promise<TakenLock> {
    const taken = this.begin(name)
    // Waits for the calls of the previous owner. A free lock has none: its last owner had no calls in flight on releasing it.
    if (taken.before !== undefined) await this.#committed()
    return taken
  }

  async takeFrom(name: string, owner: string | undefined): Promise<TakenLock | undefined> {
    const present = this.#owners.get(name)
    return present === undefined || present === owner ? await this.take(name) : undefined
  }

  async release(lock: Lock): Promise<void> {
    if (this.isHeld(lock)) this.#owners.delete(lock.name)
  }

  /** Takes a lock without waiting: calls of the previous owner may still be in flight. */
  begin(name: string): TakenLock {
    const before = this.#owners.get(name)
    const owner = `${this.node}:${++this.#taken}`
    this.#owners.set(name, owner)
    if (before !== undefined) for (const listener of this.#listeners) listener({ name, owner: before })
    return { name, owner, before }
  }
}
