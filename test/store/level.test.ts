import { describe, test } from 'vitest'
import { storeConformance } from '../../src/conformance/index.ts'
import { level, packingLevel } from './store-places.ts'

describe('createLevelStore()', () => {
  storeConformance({ test, ...level })
})

describe('createCompactingStore(), compaction what is committed at once', () => {
  storeConformance({ test, ...packingLevel })
})
