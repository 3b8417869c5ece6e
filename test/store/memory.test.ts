import { describe, test } from 'vitest'
import { storeConformance } from '../../src/conformance/index.ts'
import { memory } from './store-places.ts'

describe('createMemoryStore()', () => {
  storeConformance({ test, ...memory })
})
