import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ByteCursor } from './byte-cursor.ts'
import { recordsOfLog } from './log-file.ts'

/** Tags of https://github.com/google/leveldb/blob/main/db/version_edit.cc, by what stands behind each. */
const tag = {
  comparator: 1,
  logNumber: 2,
  nextFileNumber: 3,
  lastSequence: 4,
  compactPointer: 5,
  deletedFile: 6,
  newFile: 7,
  previousLogNumber: 9,
} as const

/** Names of the files of a database: those that belong to it, and those that a process has left which was killed. */
interface StoreFiles {
  readonly files: readonly string[]
  readonly remnants: readonly string[]
}

/**
 * Compares the files of a database with its list of tables. A table that is not in the list was being written when its process
 * was killed, or was to be removed; what it holds is in a log or in other tables. Of a list that cannot be read every file counts.
 */
export async function filesOfStore(location: string): Promise<StoreFiles> {
  const files = (await readdir(location)).filter(name => formOfFile.test(name)).sort()
  const list = await readList(location)
  if (!list) return { files, remnants: [] }
  const belongs = (name: string) => {
    const number = Number.parseInt(name, 10)
    if (name.endsWith('.log')) return number >= list.logNumber || number === list.previousLogNumber
    if (name.startsWith('MANIFEST')) return name === list.name
    return name === 'CURRENT' || list.tables.has(number)
  }
  return { files: files.filter(belongs), remnants: files.filter(name => !belongs(name)) }
}

/** What LevelDB keeps in. `.dbtmp` becomes `CURRENT`; `LOCK`, `LOG` and `LOG.old` hold nothing. */
const formOfFile = /^(\d+\.(ldb|sst|log|dbtmp)|MANIFEST-\d+|CURRENT)$/

interface FileList {
  readonly name: string
  readonly tables: ReadonlySet<number>
  /** Logs from this one on are read when the database is opened. */
  readonly logNumber: number
  readonly previousLogNumber: number
}

async function readList(location: string): Promise<FileList | undefined> {
  try {
    const name = (await readFile(join(location, 'CURRENT'), 'latin1')).trimEnd()
    if (!/^MANIFEST-\d+$/.test(name)) return undefined
    const tables = new Set<number>()
    const logs = { logNumber: 0, previousLogNumber: 0 }
    for (const edit of recordsOfLog(await readFile(join(location, name)))) apply(edit, tables, logs)
    return { name, tables, ...logs }
  } catch (error) {
    // A damaged list is reported as a file.
    if (error instanceof RangeError || (error as NodeJS.ErrnoException).code !== undefined) return undefined
    throw error
  }
}

/** @throws RangeError if it is cut off or unknown */
function apply(
  edit: Buffer,
  tables: Set<number>,
  logs: { logNumber: number; previousLogNumber: number },
): void {
  const cursor = new ByteCursor(edit)
  while (cursor.at < edit.length) {
    switch (cursor.varint()) {
      case tag.comparator:
        cursor.take(cursor.varint())
        break
      case tag.logNumber:
        logs.logNumber = cursor.varint()
        break
      case tag.previousLogNumber:
        logs.previousLogNumber = cursor.varint()
        break
      case tag.nextFileNumber:
      case tag.lastSequence:
        cursor.varint()
        break
      case tag.compactPointer:
        cursor.varint()
        cursor.take(cursor.varint())
        break
      case tag.deletedFile:
        cursor.varint()
        tables.delete(cursor.varint())
        break
      case tag.newFile: {
        cursor.varint()
        tables.add(cursor.varint())
        cursor.varint()
        // The first key and the last.
        cursor.take(cursor.varint())
        cursor.take(cursor.varint())
        break
      }
      default:
        throw new RangeError('an unknown tag')
    }
  }
}
