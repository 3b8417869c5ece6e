import { mkdtemp, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { firstLineOf, host, startScript } from '../peers/peer.ts'
import { installSqlite, openSqlite } from './better-sqlite3.ts'
import { HttpLooks } from './http-looks.ts'
import type { Question } from './questions.ts'
import { key, rowsOf } from './rows.ts'
import type { OpenSide, Side } from './side.ts'

const program = new URL('sqlite-child.ts', import.meta.url)

/**
 * SQLite with an index on key and time, in a process of Node that answers over HTTP, as the product's server does.
 *
 * @throws ProgramMissing
 */
export async function makeSqliteSide(
  parent: string,
  records: number,
  onProgress: (done: number) => void,
): Promise<Side> {
  await installSqlite()
  const directory = await mkdtemp(join(parent, 'sqlite-'))
  const path = join(directory, 'records.sqlite')
  const begin = performance.now()
  fill(path, records, onProgress)
  return {
    name: 'SQLite',
    secondsToFill: (performance.now() - begin) / 1_000,
    bytesPerRecord: (await stat(path)).size / records,
    open: () => open(path),
    remove: () => rm(directory, { recursive: true }),
  }
}

function fill(path: string, records: number, onProgress: (done: number) => void): void {
  const database = openSqlite(path)
  database.pragma('journal_mode = WAL')
  database.exec('CREATE TABLE records (key TEXT NOT NULL, time INTEGER NOT NULL, value REAL NOT NULL)')
  database.exec('CREATE INDEX records_by_time ON records (key, time)')
  const insert = database.prepare('INSERT INTO records (key, time, value) VALUES (?, ?, ?)')
  database.transaction(() => {
    let written = 0
    for (const { datetime, value } of rowsOf(records)) {
      insert.run(key, datetime, value)
      onProgress(++written)
    }
  })()
  database.exec('ANALYZE')
  database.pragma('wal_checkpoint(TRUNCATE)')
  database.close()
}

async function open(path: string): Promise<OpenSide> {
  const child = await startScript(program, [path])
  const looks = new HttpLooks(`http://${host}:${await firstLineOf(child)}`)
  return {
    ask: (question, onPart) => {
      const asked = new URLSearchParams({ question: JSON.stringify(question) })
      return looks.get(`/?${asked}`, {}, onPart)
    },
    numbers,
    close: async () => {
      looks.close()
      await child.end('SIGTERM')
    },
  }
}

function numbers(question: Question, answer: string): number[][] {
  if (question.kind === 'csv')
    return answer
      .trimEnd()
      .split('\n')
      .slice(1)
      .map(line => line.split(',').map(Number))
  const names = question.kind === 'records' ? ['value'] : question.functions
  const objects = JSON.parse(answer) as Record<string, number>[]
  return objects.map(object => ['datetime', ...names].map(name => Number(object[name])))
}
