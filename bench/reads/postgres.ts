import { type Postgres, startPostgres } from '../peers/postgres.ts'
import { Psql } from './psql.ts'
import type { Question } from './questions.ts'
import { key, type Row, rowsOf } from './rows.ts'
import type { OpenSide, Side } from './side.ts'

const rowsPerPiece = 1_000

/**
 * PostgreSQL with its default settings and a primary key of key and time, asked by psql over the Unix socket.
 *
 * @throws ProgramMissing
 */
export async function makePostgresSide(
  parent: string,
  records: number,
  onProgress: (done: number) => void,
): Promise<Side> {
  const postgres = await startPostgres(parent)
  const begin = performance.now()
  const bytes = await fill(postgres, records, onProgress)
  return {
    name: 'PostgreSQL',
    secondsToFill: (performance.now() - begin) / 1_000,
    bytesPerRecord: bytes / records,
    open: async () => {
      await postgres.restart()
      return await open(postgres)
    },
    remove: () => postgres.stop(),
  }
}

/** @returns bytes of the table and its index */
async function fill(
  postgres: Postgres,
  records: number,
  onProgress: (done: number) => void,
): Promise<number> {
  const psql = await Psql.connect(postgres)
  const columns = 'key text NOT NULL, time timestamptz NOT NULL, value double precision NOT NULL'
  await psql.run(`CREATE TABLE records (${columns}, PRIMARY KEY (key, time))`)
  await psql.copyFrom('COPY records FROM STDIN', copyLines(rowsOf(records), onProgress))
  await psql.run('VACUUM ANALYZE records')
  await psql.run('CHECKPOINT')
  let size = ''
  await psql.run("SELECT pg_total_relation_size('records')", part => {
    size += part.toString()
  })
  await psql.close()
  return Number(size)
}

function* copyLines(rows: Iterable<Row>, onProgress: (done: number) => void): Generator<string, void> {
  let lines: string[] = []
  let written = 0
  for (const { datetime, value } of rows) {
    lines.push(`${key}\t${new Date(datetime).toISOString()}\t${value}\n`)
    onProgress(++written)
    if (lines.length < rowsPerPiece) continue
    yield lines.join('')
    lines = []
  }
  yield lines.join('')
}

async function open(postgres: Postgres): Promise<OpenSide> {
  const psql = await Psql.connect(postgres)
  return {
    ask: async (question, onPart) => {
      const begin = performance.now()
      await psql.run(statementOf(question), onPart)
      return performance.now() - begin
    },
    numbers,
    close: () => psql.close(),
  }
}

function statementOf(question: Question): string {
  const bounds = [`key = '${key}'`]
  if ('from' in question) bounds.push(`time >= ${timeOf(question.from)}`)
  if (question.to !== undefined) bounds.push(`time < ${timeOf(question.to)}`)
  const where = `FROM records WHERE ${bounds.join(' AND ')}`
  const newest = `SELECT time, value ${where} ORDER BY time DESC`
  if (question.kind === 'csv') return `COPY (${newest}) TO STDOUT (FORMAT csv, HEADER)`
  if (question.kind === 'records') return `${newest} LIMIT ${question.limit}`
  const summed = question.isExact ? 'value::numeric' : 'value'
  const columns = question.functions.map(name => `${name}(${summed})`).join()
  const bin = `date_bin('${question.interval} milliseconds', time, ${timeOf(0)})`
  return `SELECT ${bin}, ${columns} ${where} GROUP BY 1 ORDER BY 1 DESC`
}

function timeOf(milliseconds: number): string {
  return `timestamptz '${new Date(milliseconds).toISOString()}'`
}

function numbers(question: Question, answer: string): number[][] {
  const lines = answer.split('\n').filter(line => line !== '')
  return lines.slice(question.kind === 'csv' ? 1 : 0).map(line => {
    const [time = '', ...rest] = line.split(',')
    return [Date.parse(time.replace(' ', 'T').replace(/\+00$/, 'Z')), ...rest.map(Number)]
  })
}
