import { type Postgres, startPostgres } from '../peers/postgres.ts'
import { Psql } from './psql.ts'
import type { Question } from './questions.ts'
import { key, type Row } from './rows.ts'
import type { OpenSide, Side } from './side.ts'

const rowsPerPiece = 1_000

/**
 * PostgreSQL with its default settings and a primary key of key and time, asked by psql over the Unix socket.
 *
 * @throws ProgramMissing
 */
export async function makePostgresSide(parent: string, rows: Iterable<Row>): Promise<Side> {
  const postgres = await startPostgres(parent)
  const psql = await Psql.connect(postgres)
  const columns = 'key text NOT NULL, time timestamptz NOT NULL, value double precision NOT NULL'
  await psql.run(`CREATE TABLE records (${columns}, PRIMARY KEY (key, time))`)
  await psql.copyFrom('COPY records FROM STDIN', copyLines(rows))
  await psql.run('VACUUM ANALYZE records')
  await psql.run('CHECKPOINT')
  await psql.close()
  return {
    name: 'PostgreSQL',
    open: async () => {
      await postgres.restart()
      return await open(postgres)
    },
    remove: () => postgres.stop(),
  }
}

function* copyLines(rows: Iterable<Row>): Generator<string, void> {
  let lines: string[] = []
  for (const { datetime, value } of rows) {
    lines.push(`${key}\t${new Date(datetime).toISOString()}\t${value}\n`)
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
