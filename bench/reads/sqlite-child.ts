import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { host } from '../peers/peer.ts'
import { openSqlite } from './better-sqlite3.ts'
import type { Question, WholeRange } from './questions.ts'
import { key } from './rows.ts'

/**
 * Answers questions from SQLite over HTTP, with nothing but Node between them: `GET /?question=<JSON>`, and how long the
 * database alone took in `x-in-database`. `GET /?rate=<n>` begins to write so many rows a second; 0 ends it. Prints its port.
 */

const [path = ''] = process.argv.slice(2)
const database = openSqlite(path)
database.pragma('synchronous = FULL')

const rowsPerPart = 500
/** Of writes, milliseconds. */
const commitEvery = 10
let writing: NodeJS.Timeout | undefined

const server = createServer((request, response) => {
  const parameters = new URL(request.url ?? '', 'http://localhost').searchParams
  const rate = parameters.get('rate')
  if (rate !== null) {
    setRate(Number(rate))
    response.end('{}')
    return
  }
  const question = JSON.parse(parameters.get('question') ?? '') as Question
  if (question.kind === 'csv') void sendCsv(question, response)
  else sendRows(question, response)
})
server.listen(0, host, () => console.log((server.address() as AddressInfo).port))

function sendRows(question: Exclude<Question, WholeRange>, response: ServerResponse): void {
  const begin = performance.now()
  const rows = question.kind === 'records' ? newest(question) : summaries(question)
  response.setHeader('x-in-database', performance.now() - begin)
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(rows))
}

function newest({ limit, to = Number.MAX_SAFE_INTEGER }: Extract<Question, { kind: 'records' }>): unknown[] {
  return database
    .prepare(
      'SELECT time AS datetime, value FROM records WHERE key = ? AND time < ? ORDER BY time DESC LIMIT ?',
    )
    .all(key, to, limit)
}

function summaries({ functions, interval, from, to }: Extract<Question, { kind: 'summaries' }>): unknown[] {
  const columns = functions.map(name => `${name}(value) AS ${name}`).join()
  return database
    .prepare(
      `SELECT time - time % ? AS datetime, ${columns} FROM records WHERE key = ? AND time >= ? AND time < ?
      GROUP BY 1 ORDER BY 1 DESC`,
    )
    .all(interval, key, from, to)
}

async function sendCsv({ from, to }: WholeRange, response: ServerResponse): Promise<void> {
  const rows = database
    .prepare('SELECT time, value FROM records WHERE key = ? AND time >= ? AND time < ? ORDER BY time DESC')
    .raw()
    .iterate(key, from, to) as IterableIterator<[number, number]>
  response.setHeader('content-type', 'text/csv')
  let lines = ['datetime,value\n']
  for (const [time, value] of rows) {
    lines.push(`${time},${value}\n`)
    if (lines.length < rowsPerPart) continue
    if (!response.write(lines.join(''))) await once(response, 'drain')
    lines = []
  }
  response.end(lines.join(''))
}

/** What is due since the last commit is one commit. */
function setRate(rate: number): void {
  clearInterval(writing)
  if (rate === 0) return
  const insert = database.prepare('INSERT INTO records (key, time, value) VALUES (?, ?, 21.5)')
  const begin = performance.now()
  let written = 0
  const commit = database.transaction((due: number) => {
    for (; written < due; written++) insert.run(`n-${written % 20}`, Date.now())
  })
  writing = setInterval(() => commit(Math.floor(((performance.now() - begin) * rate) / 1_000)), commitEvery)
}
