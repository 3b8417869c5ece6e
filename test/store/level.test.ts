import { describe, test } from 'vitest'
import { storeConformance } from '../../src/conformance/index.ts'
import { level } from './store-places.ts'

describe('createLevelStore()', () => {
  storeConformance({ test, ...level })
})
