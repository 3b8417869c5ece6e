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

/** Content and faults of a store. If the store cannot be read to its end, the counts cover the readable part. */
export interface StoreCheck {
  /** Number of things that have resources. */
  readonly things: number
  readonly resources: number
  readonly records: number
  readonly states: number
  readonly documents: number
  /** Total size of the files in bytes. */
  readonly bytes: number
  readonly faultCount: number
  /** The first 1,000 faults. */
  readonly faults: readonly StoreFault[]
  /** Names of files left by a killed process. They are not part of the store, and the next start removes them. */
  readonly remnants: readonly string[]
}

/**
 * Verifies an embedded store that no process has open: every file against its checksums, every key and value against the format
 * (docs/reference/storage.md), and the relations between entries. Changes no file. Unreadable content is reported as a fault.
 *
 * @param location directory of the database
 * @param onProgress called with the number of bytes of files, or of entries, checked so far
 * @throws Error with one line for the operator: there is no store, another process has it open, or it has another format
 */
export async function checkLevelStore(
  location: string,
  onProgress: (progress: { readonly step: 'files' | 'entries'; readonly done: number }) => void = () => {},
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

/** Throws if there is no store or a process has it open. With `errorIfExists`, LevelDB takes its lock but changes no file. */
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
    faults.add({ where: 'store', fault: `the rest cannot be read: ${textOf(error, location)}` })
  } finally {
    await level.close()
  }
  return check.counts
}

async function assertFormat(level: ClassicLevel<Buffer, Buffer>): Promise<void> {
  // A missing format is reported as a fault, not thrown.
  const problem = (await level.get(formatKey)) && (await formatProblem(level))
  if (problem !== undefined) throw new Error(`cannot check the store: ${problem}`)
}

function textOf(error: unknown, location: string): string {
  const { message, cause } = error as Error
  const text = cause instanceof Error ? cause.message : message
  return text.replaceAll(`${location}/`, '')
}

/** The files of LevelDB: tables (`.ldb`, formerly `.sst`), logs of writes, lists of tables, and the name of the current list. */
const kinds = [
  { form: /^\d+\.(ldb|sst)$/, faultsOf: faultsOfTable, isFinal: true },
  { form: /^\d+\.log$/, faultsOf: faultsOfLog, isFinal: false },
  { form: /^MANIFEST-\d+$/, faultsOf: faultsOfLog, isFinal: false },
  { form: /^CURRENT$/, faultsOf: () => [], isFinal: false },
] as const

/**
 * Verifies the checksums in the files of a database. (classic-level does not verify them when it reads.)
 *
 * @param names files of the database, without remnants
 * @param onRead called with the number of bytes read so far
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

/** Makes a copy to check, since opening a database changes it. Tables, which LevelDB never changes, are hard-linked. */
async function linkFiles(location: string, names: readonly string[], copy: string): Promise<void> {
  await mkdir(copy, { recursive: true })
  for (const name of names) {
    const [from, to] = [join(location, name), join(copy, name)]
    const isFinal = kinds.some(kind => kind.isFinal && kind.form.test(name))
    const copyWhole = () => copyFile(from, to, constants.COPYFILE_FICLONE)
    // Some file systems have no hard links.
    await (isFinal ? link(from, to).catch(copyWhole) : copyWhole())
  }
}
