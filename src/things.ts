import { type Access, type ActivationCodes, createAccess, type ThingRegistry } from './access/index.ts'
import { type Clock, createClock } from './core/clock.ts'
import { createIngest, type Ingest } from './core/ingest.ts'
import type { DocumentStore, RecordStore, RefusedWrites } from './core/ports.ts'
import { magicRules } from './magic/registry.ts'
import type { StoreDriver } from './store/contract.ts'
import { openStore } from './store/open-store.ts'

export interface ThingsOptions {
  /** Where everything is kept, not yet open: `createLevelStore({ location })`. */
  readonly store: StoreDriver
  /** The operator's credential, at least 32 characters. */
  readonly adminKey: string
  /** Whether a thing may delete its own records with its token. Default false. */
  readonly allowThingDelete?: boolean
  /** How long a write may wait for its commit, milliseconds. Default 5,000. */
  readonly storeTimeout?: number
}

/** The service without its doors: what `thingwire/http` and `thingwire/mqtt` are plugged onto. */
export interface Things {
  readonly ingest: Ingest
  readonly records: RecordStore
  readonly refused: RefusedWrites
  /** What the doors keep beside the records, such as wills. */
  readonly documents: DocumentStore
  readonly access: Access
  readonly registry: ThingRegistry
  readonly activationCodes: ActivationCodes
  readonly clock: Clock
  /** A consistent copy of the store, as a stream of bytes. @throws ThingwireError not_found without `backup` */
  backup(): AsyncIterable<Uint8Array>
  /** Whether the store works now. */
  isReady(): boolean
  /** Finishes what was called, then closes the store. Idempotent. */
  close(): Promise<void>
}

/**
 * Opens the store and wires core, magic resources and access onto it. Opens no sockets.
 *
 * @throws Error with a message for the operator if the store cannot be opened
 */
export async function createThings(options: ThingsOptions): Promise<Things> {
  const store = await openStore(
    options.store,
    options.storeTimeout === undefined ? {} : { storeTimeout: options.storeTimeout },
  )
  const { records, documents, refused } = store
  const clock = createClock(records.newestReceipt())
  const access = await createAccess({
    documents,
    records,
    adminKey: options.adminKey,
    allowThingDelete: options.allowThingDelete ?? false,
  })
  return {
    ...access,
    ingest: createIngest({ records, refused, magic: magicRules, clock }),
    records,
    refused,
    documents,
    clock,
    backup: () => store.backup(),
    isReady: () => store.isReady(),
    close: async () => {
      await access.close()
      await store.close()
    },
  }
}
