import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { firstLineOf, host, startScript } from '../peers/peer.ts'
import { installSqlite, openSqlite } from './better-sqlite3.ts'
import { HttpLooks } from './http-looks.ts'
import { key, type Row } from './rows.ts'
import type { OpenSide, Side } from './side.ts'

const program = new URL('sqlite-child.ts', import.meta.url)

/**
 * SQLite with an index on key and time, in a process of Node that answers over HTTP, as the product's server does.
 *
 * @throws ProgramMissing
 */
export async function makeSqliteSide(parent: string, rows: Iterable<Row>): Promise<Side> {
  await installSqlite()
  const directory = await mkdtemp(join(parent, 'sqlite-'))
  const path = join(directory, 'records.sqlite')
  fill(path, rows)
  return { name: 'SQLite', open: () => open(path), remove: () => rm(directory, { recursive: true }) }
}

function fill(path: string, rows: Iterable<Row>): void {
  const database = openSqlite(path)
  database.pragma('journal_mode = WAL')
  database.exec('CREATE TABLE records (key TEXT NOT NULL, time INTEGER NOT NULL, value REAL NOT NULL)')
  database.exec('CREATE INDEX records_by_time ON records (key, time)')
  const insert = database.prepare('INSERT INTO records (key, time, value) VALUES (?, ?, ?)')
  database.transaction(() => {
    for (const { datetime, value } of rows) insert.run(key, datetime, value)
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
    close: async () => {
      looks.close()
      await child.end('SIGTERM')
    },
  }
}
