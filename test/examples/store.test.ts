import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

test('examples/store passes the conformance suite under the test runner of Node', async () => {
  const run = promisify(execFile)
  const { stdout } = await run(process.execPath, ['--import', 'tsx', 'examples/store/conformance.ts'])
  expect(stdout).toMatch(/^# tests [1-9]\d\d$/m)
  expect(stdout).toMatch(/^# fail 0$/m)
})
