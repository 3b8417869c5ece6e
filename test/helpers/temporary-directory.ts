import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A directory of the running test's own, gone when it has finished. */
export async function temporaryDirectory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'thingwire-test-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}
