import { constants } from 'node:fs'
import { copyFile, link, mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { StoreFault } from './faults.ts'
import { faultsOfLog } from './log-file.ts'
import { faultsOfTable } from './table-file.ts'

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
export async function checkFiles(
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
export async function linkFiles(location: string, names: readonly string[], copy: string): Promise<void> {
  await mkdir(copy, { recursive: true })
  for (const name of names) {
    const [from, to] = [join(location, name), join(copy, name)]
    const isFinal = kinds.some(kind => kind.isFinal && kind.form.test(name))
    const copyWhole = () => copyFile(from, to, constants.COPYFILE_FICLONE)
    // Some file systems have no links.
    await (isFinal ? link(from, to).catch(copyWhole) : copyWhole())
  }
}
