import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/**
 * The environment of a process, and of those that it starts, with another wall clock. Its timers run as ever.
 *
 * @param offset such as `+10y`, `-2d`, `+3600` (seconds), of libfaketime
 */
export async function otherClock(offset: string): Promise<NodeJS.ProcessEnv> {
  const { stdout } = await run('faketime', ['-m', '-f', '+0', 'printenv', 'LD_PRELOAD'])
  return { LD_PRELOAD: stdout.trim(), FAKETIME: offset, FAKETIME_DONT_FAKE_MONOTONIC: '1', NO_FAKE_STAT: '1' }
}
