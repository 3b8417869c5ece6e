import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

type OnEnd = (remove: () => Promise<void>) => void

/**
 * A directory that is gone when the running test has finished.
 *
 * @param onEnd who removes it instead, where no test is running
 */
export async function temporaryDirectory(onEnd: OnEnd = onTestFinished): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'thingwire-test-'))
  onEnd(() => rm(path, { recursive: true, force: true }))
  return path
}
