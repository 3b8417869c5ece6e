import { execFile } from 'node:child_process'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../', import.meta.url))
/** Holds when the newest source changed of which `dist` was made here. */
const marker = join(root, 'dist/.built')

let building: Promise<void> | undefined

/**
 * Compiles `src` into `dist` if it has changed: a process that is started from there is ready with half of the processor
 * time that it takes to compile on the way, and tests start hundreds. Types are not checked.
 *
 * @throws Error if the compiler or the bundler fails
 */
export function built(): Promise<void> {
  building ??= build()
  return building
}

async function build(): Promise<void> {
  const newest = String(await newestChange(join(root, 'src')))
  const made = await readFile(marker, 'utf8').catch(() => undefined)
  if (made === newest) return
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  await run(process.execPath, [compiler, '-p', 'tsconfig.build.json', '--noCheck'], { cwd: root })
  await run('npm', ['run', 'bundle'], { cwd: root })
  await writeFile(marker, newest)
}

/** Milliseconds since the epoch. */
async function newestChange(directory: string): Promise<number> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const times = entries.map(async entry => (await stat(join(entry.parentPath, entry.name))).mtimeMs)
  return Math.max(...(await Promise.all(times)))
}

/** Of vitest: before any test, so that no two build at once. */
export default built
