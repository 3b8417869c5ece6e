import { randomUUID } from 'node:crypto'
import { promiseOf } from '../core/async/ticket.ts'
import type { Lock, Locks, TakenLock } from '../core/locks.ts'
import type { Nodes } from '../core/nodes.ts'
import type { DriverLocks, RecordStore, Snapshot, Store, StoreDriver } from './contract.ts'
import { LifeCycle } from './guard/life-cycle.ts'
import { PendingAppends } from './guard/pending-appends.ts'
import { SoleLocks } from './guard/sole-locks.ts'
import { TimeLimit } from './guard/time-limit.ts'

export interface OpenStoreOptions {
  /** How long an append or a put may wait for its commit, milliseconds (contract §4). */
  readonly storeTimeout?: number
}

/** Milliseconds (contract §4). */
export const defaultStoreTimeout = 5_000

/**
 * Opens a store and stands guard before it: whatever a driver would have to repeat (life cycle, time limit, copies
 * of a write in flight) is here.
 *
 * @throws what the driver's `open` throws
 */
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
  // A store that is shared compares locks itself, in its commits.
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

/** Locks of a driver, each taken and released within the time limit. */
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

/** This process alone, which leads every task. */
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

/** The snapshots that are open: a reader may keep one for as long as it likes, and `close` waits for none. */
export class OpenSnapshots {
  readonly #store: LifeCycle
  readonly #open = new Set<Snapshot>()

  /** @param store life of the store that they are of */
  constructor(store: LifeCycle) {
    this.#store = store
  }

  /** Stands guard before a driver's snapshot: closed once, and read only while it and the store are open. */
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

  /** Closes all of them. */
  async close(): Promise<void> {
    await Promise.all([...this.#open].map(snapshot => snapshot.close()))
  }
}
