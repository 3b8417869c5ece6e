import { onTestFinished } from 'vitest'
import { type AccessServices, createAccess } from '../../src/access/index.ts'
import type { Document, DocumentStore } from '../../src/core/ports.ts'
import { createToken } from '../../src/core/token.ts'
import { sourceRules } from '../../src/formats/registry.ts'
import type { Store, StoreDriver } from '../../src/store/contract.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { openStore } from '../../src/store/open-store.ts'
import { createGate } from '../helpers/gate.ts'

export const adminKey = createToken()

export interface OpenAccess extends AccessServices {
  readonly store: Store
}

export interface OpenAccessOptions {
  readonly driver?: StoreDriver
  readonly allowThingDelete?: boolean
  /** Default: `adminKey`. */
  readonly key?: string
}

/** Access on a store of its own, in memory unless said otherwise; closed at the end of the test. */
export async function openAccess(options: OpenAccessOptions = {}): Promise<OpenAccess> {
  const { driver = createMemoryStore(), allowThingDelete = false, key = adminKey } = options
  const store = await openStore(driver)
  const services = await createAccess({ ...store, adminKey: key, allowThingDelete, rules: sourceRules })
  const close = async () => {
    await services.close()
    await store.close()
  }
  onTestFinished(close)
  return { ...services, store, close }
}

/** Stores one record without its own datetime check: `value` is JSON text. */
export async function append(store: Store, thingId: string, key: string, value: string, datetime = 1_000) {
  const records = [{ key, datetime, value, place: 0, explicit: true }]
  await store.records.append({ thingId, records, store: true, broadcast: true, answer: {} })
}

/** Puts the state of `$geo`, as a record there would. */
export async function place(store: Store, thingId: string, long: number, lat: number) {
  const value = JSON.stringify({ type: 'Point', coordinates: [long, lat] })
  await store.records.append({
    thingId,
    records: [],
    states: [{ key: '$geo', record: { key: '$geo', datetime: 1_000, value } }],
    store: true,
    broadcast: true,
    answer: {},
  })
}

export async function documentsUnder(
  documents: Pick<DocumentStore, 'list'>,
  prefix: string,
): Promise<[string, Document][]> {
  return [...(await documents.list(prefix, { limit: 10_000 }))]
}

/** A gate for the lookup of a token in a store that went through `intercept`: the first one after `hold`, with its answer. */
export function createLookupGate() {
  const gate = createGate()
  let holds = false
  const hold = () => {
    holds = true
  }
  const intercept = (driver: StoreDriver): StoreDriver => {
    const get: DocumentStore['get'] = async name => {
      const document = await driver.documents.get(name)
      if (holds && name.startsWith('tokens/')) {
        holds = false
        await gate.pass()
      }
      return document
    }
    return { ...driver, documents: { ...driver.documents, get } }
  }
  return { intercept, hold, reached: gate.reached, open: gate.open }
}
