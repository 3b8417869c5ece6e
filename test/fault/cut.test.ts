import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { cutConnections } from './cut.ts'
import { noViolations } from './ledger.ts'

test('QoS 2 writes are kept once by devices that lose the connection and are back before their commit is over', async () => {
  const dataDir = join(await temporaryDirectory(), 'data')
  const { cuts, violations } = await cutConnections({ dataDir, writes: 150 }, 20)
  expect(violations).toEqual(noViolations)
  expect(cuts).toBeGreaterThan(10)
})
