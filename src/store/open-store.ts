import { randomUUID } from 'node:crypto'
import { promiseOf } from '../core/async/ticket.ts'
import type { Hold, Holds, TakenHold } from '../core/holds.ts'
import type { DriverHolds, RecordStore, Store, StoreDriver } from './contract.ts'
import { LifeCycle } from './guard/life-cycle.ts'
import { OpenSnapshots } from './guard/open-snapshots.ts'
import { PendingAppends } from './guard/pending-appends.ts'
import { SoleHolds } from './guard/sole-holds.ts'
import { soleNode } from './guard/sole-node.ts'
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
  const sole = new SoleHolds(randomUUID(), () => records.catchUp())
  const nodes = driver.nodes ?? soleNode(sole)
  const holds = driver.holds ? limited(driver.holds, limit) : sole
  // A store that is shared compares holds itself, in its commits.
  const assertHeld = (hold: Hold | undefined) => {
    if (!driver.holds) sole.assertHeld(hold)
  }
  const submit: RecordStore['submit'] = (write, ticket) => {
    try {
      life.assertOpen()
      assertHeld(write.hold)
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
    removeOld: (thingId, key, before, from, hold) =>
      life.run(async () => {
        assertHeld(hold)
        return await records.removeOld(thingId, key, before, from, hold)
      }),
    removeThing: thingId => life.run(() => records.removeThing(thingId)),
    onCommit: listener => records.onCommit(listener),
    logWhen: isWanted => records.logWhen(isWanted),
    readLog: query => life.run(() => records.readLog(query)),
    trimLog: (writeNumbers, hold) =>
      life.run(async () => {
        assertHeld(hold)
        await records.trimLog(writeNumbers, hold)
      }),
  }
  return {
    capabilities: driver.capabilities,
    nodes,
    holds: {
      take: name => life.run(() => holds.take(name)),
      takeFrom: (...from) => life.run(() => holds.takeFrom(...from)),
      release: hold => life.run(() => holds.release(hold)),
      onLost: listener => holds.onLost(listener),
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
      put: (put, purpose, hold) =>
        life.run(async () => {
          assertHeld(hold)
          await promiseOf(ticket => limit.run(ticket, own => documents.put(put, purpose, own, hold), hold))
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

/** Holds of a driver, each taken and released within the time limit. */
function limited(holds: DriverHolds, limit: TimeLimit): Holds {
  const take = (name: string, from?: { readonly holder: string | undefined }) =>
    promiseOf<TakenHold | undefined>(ticket => limit.run(ticket, own => holds.take(name, own, from)))
  return {
    take: async name => {
      const taken = await take(name)
      if (!taken) throw new Error(`the driver did not take ${name}`)
      return taken
    },
    takeFrom: (name, holder) => take(name, { holder }),
    release: async hold => {
      await promiseOf(ticket => limit.run(ticket, own => holds.release(hold, own)))
    },
    onLost: listener => holds.onLost(listener),
  }
}
