import { randomUUID } from 'node:crypto'
import type { Stats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { printable } from '../../core/json/printable.ts'
import { connect } from '../client/connection.ts'
import { findThing, type NamedThing } from '../client/named-thing.ts'
import { CommandError, failure, usageError } from '../exit.ts'
import { LoadState } from '../load/load-state.ts'
import { type LoadCounts, load } from '../load/loader.ts'
import { type Complaint, faultText, folded, namedLines } from '../load/refused-lines.ts'
import { withRetry } from '../load/with-retry.ts'
import { counted, grouped, printJson, printLine } from '../output.ts'
import { durationText, Progress } from '../progress.ts'
import { fileOptions, formatOf } from './file-options.ts'
import { FileReader, summaryOf } from './file-reader.ts'
import { type Flags, writeFlags } from './flags.ts'
import { showResult } from './result.ts'

/** Writes the records of a file, or of stdin (`-`); with `--dry-run`, only reports what it would write. */
export async function writeFile(named: string | undefined, file: string, flags: Flags): Promise<void> {
  const isStdin = file === '-'
  if (isStdin && process.stdin.isTTY) {
    throw usageError('give readings as key=value, a --file, or records on stdin')
  }
  if (isStdin && flags.credentialFile === '-')
    throw usageError('stdin can be either the credential or the records')
  const source = { file, format: formatOf(file, flags), options: await fileOptions(flags, file) }
  const found = isStdin ? undefined : await foundFile(file)
  const name = isStdin ? 'stdin' : basename(file)
  const progress = new Progress()
  if (flags.dryRun) {
    const say = flags.json ? () => {} : (line: string) => console.log(printable(line))
    return await tryFile(new FileReader(source, say), { name, json: flags.json })
  }
  const client = await connect(flags, 'any')
  const thing = await withRetry(() => findThing(client, named), {
    isExpected: true,
    isEndless: true,
    onWait: (why, seconds) => console.error(`${why}: again in ${seconds} s`),
  })
  const reader = new FileReader(source, line => progress.say(printable(line)))
  // Reads the file before the first write, since a late row, such as a key's second row of a day, may refuse the whole file.
  if (found?.isFile()) {
    for await (const { end = 0 } of reader.read()) {
      progress.show(() => `reading ${name}: ${shareText(end, found.size)}`)
    }
  }
  let stored = 0
  async function* lines() {
    try {
      for await (const line of reader.read()) yield { ...line, thingId: thing.thingId }
    } catch (error) {
      if (!(error instanceof CommandError) || stored === 0) throw error
      throw failure(`${error.message}. The first ${counted(stored, 'record')} of ${name} are stored already`)
    }
  }
  const state = isStdin ? undefined : new LoadState(['write', client.url, thing.thingId, resolve(file)])
  const begin = Date.now()
  const done = await load(lines, {
    client,
    flags: writeFlags(flags),
    state,
    salt: isStdin ? randomUUID() : '',
    progress,
    onBatch: (counts, end) => {
      stored = counts.records
      progress.show(() => progressText(counts, Date.now() - begin, end, found?.size))
    },
  })
  progress.clear()
  await state?.remove()
  const notes = reader.notes.lines()
  for (const note of notes) progress.say(`thingwire: note: ${printable(note)}`)
  if (notes.length > 0 && flags.store) progress.say(correcting)
  const text = resultText(done, thing, { name, isStored: flags.store })
  await showResult(thing, done, { text, json: flags.json })
}

/** Writing a corrected file does not replace records: the wrong value stays stored as well. */
const correcting =
  'thingwire: note: these records are stored; to correct them, remove them first (thingwire remove), then write the corrected file. --dry-run shows notes before anything is stored'

/** The result in words. Counts the records of the file, since the server does not say how many of them are new. */
function resultText(
  { records, before, refused }: LoadCounts,
  { thingId, name: thing }: NamedThing,
  { name, isStored }: { readonly name: string; readonly isStored: boolean },
): string {
  if (records + refused === 0) return `${name} contains no records`
  const did = !isStored ? 'sent to' : records === 1 ? 'is in' : 'are in'
  const resumed = before > 0 ? `, ${grouped(before)} of them from an earlier run` : ''
  return `${counted(records, 'record')} of ${name} ${did} ${thing || thingId}${resumed}`
}

/** Progress as text, such as `24,500 records, 12,250/s, 49 % of the file, 4 s left`. @param passed milliseconds since the start */
function progressText({ records, before }: LoadCounts, passed: number, bytes: number, size?: number): string {
  const rate = Math.round(((records - before) * 1000) / Math.max(passed, 1))
  const text = `${grouped(records)} records, ${grouped(rate)}/s`
  if (size === undefined) return text
  const share = Math.min(bytes / Math.max(size, 1), 1)
  const left = (records / Math.max(share, 0.001) - records) / Math.max(rate, 1)
  return `${text}, ${shareText(bytes, size)}, ${durationText(left * 1000)} left`
}

function shareText(bytes: number, size: number): string {
  return `${Math.floor(Math.min(bytes / Math.max(size, 1), 1) * 100)} % of the file`
}

async function foundFile(file: string): Promise<Stats> {
  try {
    const found = await stat(file)
    if (!found.isDirectory()) return found
  } catch (error) {
    throw usageError(`cannot read ${file}: ${(error as Error).message}`)
  }
  throw usageError(`${file} is a directory`)
}

/**
 * Reads a whole file and reports what would be written. Sends nothing to a server, since a refused write would stay in the thing's
 * list of refused writes.
 *
 * @throws CommandError failed if lines cannot be read, with the reasons
 */
export async function tryFile(
  reader: FileReader,
  { name, json }: { readonly name: string; readonly json: true | undefined },
): Promise<void> {
  let records = 0
  const complaints: Complaint[] = []
  for await (const { line, records: found, fault } of reader.read()) {
    records += found.length
    if (fault) complaints.push({ line, text: faultText(fault) })
  }
  const notes = reader.notes.lines()
  if (json) {
    const columns = reader.columns.map(summaryOf)
    await printJson({ records, refused: complaints.length, columns, first: reader.first, notes })
  } else {
    for (const note of notes) await printLine(`note      ${note}`)
    await printLine(`${counted(records, 'record')} of ${name} would be written`)
  }
  if (complaints.length === 0) return
  throw failure(
    `${counted(complaints.length, 'line')} of ${name} cannot be read`,
    folded(complaints).slice(0, namedLines),
  )
}
