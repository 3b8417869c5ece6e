import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Makes a directory that goes with this process, also when a signal ends it. */
export async function makeBenchDirectory(parent = tmpdir()): Promise<string> {
  const directory = await mkdtemp(join(parent, 'thingwire-bench-'))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  // Whatever was started ends with this process, but not by the signal itself.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
  return directory
}
