import { promiseOf } from '../core/ticket.ts'
import type { RecordStore, Store, StoreDriver } from './contract.ts'
import { LifeCycle } from './life-cycle.ts'
import { OpenSnapshots } from './open-snapshots.ts'
import { PendingAppends } from './pending-appends.ts'
import { soleNode } from './sole-node.ts'
import { TimeLimit } from './time-limit.ts'

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
  const submit: RecordStore['submit'] = (write, ticket) => {
    if (life.closed) ticket.reject(life.closedError())
    else appends.submit(write, ticket)
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
    things: page => life.run(() => records.things(page)),
    resources: thingId => life.run(() => records.resources(thingId)),
    state: (thingId, key) => life.run(() => records.state(thingId, key)),
    snapshot: () => life.run(async () => snapshots.guard(await records.snapshot())),
    remove: (...range) => life.run(() => records.remove(...range)),
    removeOld: (...piece) => life.run(() => records.removeOld(...piece)),
    removeThing: thingId => life.run(() => records.removeThing(thingId)),
    newestReceipt: () => records.newestReceipt(),
    onCommit: listener => records.onCommit(listener),
    logWhen: isWanted => records.logWhen(isWanted),
    readLog: query => life.run(() => records.readLog(query)),
    trimLog: writeNumbers => life.run(() => records.trimLog(writeNumbers)),
  }
  return {
    capabilities: driver.capabilities,
    nodes: driver.nodes ?? soleNode(),
    records: guarded,
    documents: {
      get: name => life.run(() => documents.get(name)),
      list: (...query) => life.run(() => documents.list(...query)),
      put: (put, purpose) =>
        life.run(async () => {
          await promiseOf(ticket => limit.run(ticket, own => documents.put(put, own, purpose)))
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
