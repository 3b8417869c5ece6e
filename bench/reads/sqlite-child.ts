import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { host } from '../peers/peer.ts'
import { openSqlite } from './better-sqlite3.ts'
import type { Question, WholeRange } from './questions.ts'
import { key } from './rows.ts'

/** Answers questions from SQLite over HTTP, with nothing but Node between them: `GET /?question=<JSON>`. Prints its port. */

const [path = ''] = process.argv.slice(2)
const database = openSqlite(path)

const rowsPerPart = 500

const server = createServer((request, response) => {
  const parameters = new URL(request.url ?? '', 'http://localhost').searchParams
  const question = JSON.parse(parameters.get('question') ?? '') as Question
  if (question.kind === 'csv') void sendCsv(question, response)
  else sendRows(question, response)
})
server.listen(0, host, () => console.log((server.address() as AddressInfo).port))

function sendRows(question: Exclude<Question, WholeRange>, response: ServerResponse): void {
  const rows = question.kind === 'records' ? newest(question) : summaries(question)
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
