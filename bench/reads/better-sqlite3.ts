import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { ProgramMissing } from '../peers/peer.ts'

/** Of better-sqlite3, what the bench uses: its types are not installed with the project, nor is the package itself. */
export interface SqliteDatabase {
  pragma(source: string): unknown
  exec(source: string): unknown
  prepare(source: string): SqliteStatement
  transaction<Arguments extends readonly unknown[]>(
    task: (...given: Arguments) => void,
  ): (...given: Arguments) => void
  close(): unknown
}

interface SqliteStatement {
  run(...parameters: readonly SqliteValue[]): unknown
  all(...parameters: readonly SqliteValue[]): unknown[]
  raw(): SqliteStatement
  iterate(...parameters: readonly SqliteValue[]): IterableIterator<unknown>
}

type SqliteValue = string | number
type SqliteClass = new (path: string) => SqliteDatabase

const run = promisify(execFile)
/** Of the package that has better-sqlite3 for its only dependency. */
const here = fileURLToPath(new URL('./', import.meta.url))
/** Its compiler may need minutes, milliseconds. */
const installDeadline = 600_000

/**
 * Installs better-sqlite3, unless it is there for this version of Node.
 *
 * @param directory of a package that depends on it
 * @throws ProgramMissing if it cannot be installed
 */
export async function installSqlite(directory = here): Promise<void> {
  if (works(directory)) return
  const args = ['ci', '--no-audit', '--no-fund', '--prefix', directory]
  const reason = await run('npm', args, { timeout: installDeadline }).then(
    () => 'it does not load',
    (error: Error) => faultIn(error.message),
  )
  if (works(directory)) return
  throw new ProgramMissing(
    `better-sqlite3 is not installed, and npm ci --prefix bench/reads fails (${reason}): it takes a compiled binary from ` +
      'github.com, or compiles one, which needs apt install build-essential python3',
  )
}

/** @param path of the database, which is made if it is not there */
export function openSqlite(path: string): SqliteDatabase {
  return new (sqliteClass(here))(path)
}

function works(directory: string): boolean {
  try {
    ;new (sqliteClass(directory))(':memory:').close()
    return true
  } catch {
    return false
  }
}

/** Not by its name: another package above this one may have it. */
function sqliteClass(directory: string): SqliteClass {
  return createRequire(import.meta.url)(join(directory, 'node_modules/better-sqlite3')) as SqliteClass
}

/** Of what npm wrote, the first line that says something. */
function faultIn(output: string): string {
  const lines = output.split('\n').flatMap(line => /^npm err(?:or|!) (.+ .+)/i.exec(line)?.[1] ?? [])
  return lines.find(line => !/^(code|path|errno|syscall) /.test(line)) ?? 'npm is missing'
}
