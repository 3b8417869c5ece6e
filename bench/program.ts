import { rmSync } from 'node:fs'
import { chmod, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

/** What all benches do around their measures. */

type Default = string | number | boolean | readonly string[]
type Given<Value> = Value extends number
  ? number
  : Value extends string
    ? string
    : Value extends boolean
      ? boolean
      : readonly string[]

/**
 * The options of the command line: each has the type of its default, and a list takes an option several times.
 *
 * @throws Error if an option is unknown or has no number where one is due
 */
export function readOptions<const Defaults extends Readonly<Record<string, Default>>>(
  defaults: Defaults,
): { readonly [Name in keyof Defaults]: Given<Defaults[Name]> } {
  const options = Object.fromEntries(
    Object.entries(defaults).map(([name, value]) => [
      name,
      { type: typeof value === 'boolean' ? 'boolean' : 'string', multiple: Array.isArray(value) } as const,
    ]),
  )
  const { values } = parseArgs({ options })
  const given = Object.entries(defaults).map(([name, value]) => {
    const text = values[name]
    if (text === undefined || typeof value !== 'number') return [name, text ?? value]
    if (!Number.isFinite(Number(text))) throw new Error(`--${name} takes a number, not ${text}`)
    return [name, Number(text)]
  })
  return Object.fromEntries(given)
}

/** Makes a directory that goes with this process, also when a signal ends it. */
export async function makeBenchDirectory(parent = tmpdir()): Promise<string> {
  const directory = await mkdtemp(join(parent, 'thingwire-bench-'))
  // PostgreSQL, which does not run as root, has its files in there.
  await chmod(directory, 0o711)
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  // Whatever was started ends with this process, but not by the signal itself.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
  return directory
}

/**
 * Shows how far a long work is: a line every tenth.
 *
 * @param describe gives the words for it; called each time
 */
export function createProgress(total: number, describe: (done: number) => string): (done: number) => void {
  let shownTenth = -1
  return done => {
    const tenth = Math.floor((done / total) * 10)
    if (tenth === shownTenth) return
    shownTenth = tenth
    console.log(`${String(tenth * 10).padStart(3)} %  ${describe(done)}`)
  }
}

/** Writes a line about the run to standard error, apart from its figures. */
export function report(progress: string): void {
  process.stderr.write(`${progress}\n`)
}

/** The items from the place `by` on, then those before it: who begins a round changes from round to round. */
export function rotated<Item>(items: readonly Item[], by: number): Item[] {
  const place = by % items.length
  return [...items.slice(place), ...items.slice(0, place)]
}

/** NaN of none. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2
}

/** @param share from 0 to 1 */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
