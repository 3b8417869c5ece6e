import { constants } from 'node:fs'
import { copyFile, link, mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import { bytesOfStore } from '../database/directory-size.ts'
import { formatProblem, misplaced } from '../database/identity.ts'
import { hasCode, openError } from '../database/level-errors.ts'
import { formatKey } from '../keys.ts'
import { EntryCheck } from './entries.ts'
import { Faults, type StoreFault } from './faults.ts'
import { faultsOfLog, faultsOfTable, filesOfStore } from './leveldb-files.ts'

export type { StoreFault }

/** What is in a store, and what is wrong with it. Where a store cannot be read to its end the counts go as far as it could. */
export interface StoreCheck {
  /** That have resources. */
  readonly things: number
  readonly resources: number
  readonly records: number
  readonly states: number
  readonly documents: number
  /** Of its files. */
  readonly bytes: number
  readonly faultCount: number
  /** The first 1,000. */
  readonly faults: readonly StoreFault[]
  /** Names of files that a process has left which was killed. They are no part of the store, and the next start removes them. */
  readonly remnants: readonly string[]
}

interface CheckProgress {
  readonly step: 'files' | 'entries'
  /** Bytes of the files, or entries, that were looked at. */
  readonly done: number
}

/**
 * Verifies an embedded store that no process holds: every file against its checksums, every key and value against the format
 * (docs/reference/storage.md), and what belongs together. Changes nothing; what cannot be read is a fault like others.
 *
 * @param location directory of the database
 * @throws Error with one line for the operator: there is no store, another process holds it, another format
 */
export async function checkLevelStore(
  location: string,
  onProgress: (progress: CheckProgress) => void = () => {},
): Promise<StoreCheck> {
  await assertFree(location)
  const faults = new Faults()
  const { files, remnants } = await filesOfStore(location)
  faults.add(...(await checkFiles(location, files, done => onProgress({ step: 'files', done }))))
  const bytes = await bytesOfStore(location)
  const copy = await mkdtemp(`${location}.check-`)
  try {
    await linkFiles(location, files, copy)
    const counts = await checkEntries(copy, faults, done => onProgress({ step: 'entries', done }))
    return { ...counts, bytes, faultCount: faults.count, faults: faults.found, remnants }
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
}

/** LevelDB takes the lock before it sees that there is a database already, and touches nothing else then. */
async function assertFree(location: string): Promise<void> {
  const hasFiles = await stat(join(location, 'CURRENT')).then(
    () => true,
    () => false,
  )
  if (!hasFiles) {
    const why = (await misplaced(location)) ?? 'there is no store'
    throw new Error(`cannot check the store in ${location}: ${why}`)
  }
  const probe = new ClassicLevel(location, { errorIfExists: true, createIfMissing: false })
  try {
    await probe.open()
    await probe.close()
  } catch (error) {
    if (hasCode((error as Error).cause, 'LEVEL_LOCKED')) throw openError(error, location)
  }
}

async function checkEntries(location: string, faults: Faults, onProgress: (done: number) => void) {
  const level = new ClassicLevel<Buffer, Buffer>(location, {
    keyEncoding: 'buffer',
    valueEncoding: 'buffer',
    createIfMissing: false,
  })
  const check = new EntryCheck(level, faults)
  try {
    await level.open()
    await assertFormat(level)
    await check.run(onProgress)
  } catch (error) {
    if (!hasCode(error, 'LEVEL_')) throw error
    faults.add({ where: 'store', fault: `it cannot be read from here on: ${textOf(error, location)}` })
  } finally {
    await level.close()
  }
  return check.counts
}

async function assertFormat(level: ClassicLevel<Buffer, Buffer>): Promise<void> {
  // That it is missing is a fault like others.
  const problem = (await level.get(formatKey)) && (await formatProblem(level))
  if (problem !== undefined) throw new Error(`cannot check the store: ${problem}`)
}

function textOf(error: unknown, location: string): string {
  const { message, cause } = error as Error
  const text = cause instanceof Error ? cause.message : message
  return text.replaceAll(`${location}/`, '')
}

/** What LevelDB keeps in: tables (`.ldb`, `.sst` of old), logs of writes, lists of tables, and the name of the list that counts. */
const kinds = [
  { form: /^\d+\.(ldb|sst)$/, faultsOf: faultsOfTable, isFinal: true },
  { form: /^\d+\.log$/, faultsOf: faultsOfLog, isFinal: false },
  { form: /^MANIFEST-\d+$/, faultsOf: faultsOfLog, isFinal: false },
  { form: /^CURRENT$/, faultsOf: () => [], isFinal: false },
] as const

/**
 * Compares files of a database with their checksums, which classic-level does not when it reads.
 *
 * @param names those of the database, without the remnants beside them
 * @param onRead called with the bytes that were read so far
 */
async function checkFiles(
  location: string,
  names: readonly string[],
  onRead: (bytes: number) => void,
): Promise<StoreFault[]> {
  const faults: StoreFault[] = []
  let read = 0
  for (const name of names) {
    const bytes = await readFile(join(location, name))
    const kind = kinds.find(({ form }) => form.test(name))
    for (const fault of kind?.faultsOf(bytes) ?? []) faults.push({ where: name, fault })
    read += bytes.length
    onRead(read)
  }
  return faults
}

/**
 * Makes a second database of the same files. LevelDB writes when it opens one, and leaves out what it cannot read; the tables,
 * which it never changes, are the same on the disk, so that it costs next to nothing.
 */
async function linkFiles(location: string, names: readonly string[], copy: string): Promise<void> {
  await mkdir(copy, { recursive: true })
  for (const name of names) {
    const [from, to] = [join(location, name), join(copy, name)]
    const isFinal = kinds.some(kind => kind.isFinal && kind.form.test(name))
    const copyWhole = () => copyFile(from, to, constants.COPYFILE_FICLONE)
    // Some file systems have no links.
    await (isFinal ? link(from, to).catch(copyWhole) : copyWhole())
  }
}
