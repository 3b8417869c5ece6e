import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { storeConformance } from 'thingwire/conformance'
import { createCountingStore } from './counting-store.ts'

let records = 0
const createStore = () =>
  createCountingStore(more => {
    records += more
  })

storeConformance({
  test: (name, body) => void test(name, body),
  capabilities: createStore().capabilities,
  // A new, empty place for each test. In a durable store each driver of a place finds the records of the one before.
  factory: async () => ({ driver: createStore, cleanUp: async () => {} }),
})

after(() => assert(records > 0))
