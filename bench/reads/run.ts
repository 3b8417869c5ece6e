import { tmpdir } from 'node:os'
import { describeMachine, isReached, verdictTable } from '../compare/report.ts'
import { ProgramMissing } from '../peers/peer.ts'
import { makeBenchDirectory, readOptions } from '../program.ts'
import { checkAnswers } from './check.ts'
import { growthInCsv, lateRecord, look, lookBehindLateRecords, type Turn } from './looks.ts'
import { makePostgresSide } from './postgres.ts'
import { makeProductSide, type ProductSide, shapes } from './product.ts'
import { csvOfAll, views } from './questions.ts'
import { rowsFor } from './rows.ts'
import type { Side } from './side.ts'
import { makeSqliteSide } from './sqlite.ts'
import {
  type Judged,
  judgeCsv,
  judgeDisk,
  judgedFrom,
  judgeGrowth,
  judgeLooks,
  looksTable,
} from './verdicts.ts'

/**
 * `npm run bench:reads [-- --records 2600000 --rounds 3 --only <part of a view's name>]`: looks at records of one
 * key, written in batches and one a write, beside SQLite and PostgreSQL with the same rows; docs/inside/performance.md says
 * how. Exits with 1 if answers differ; a run of enough records also if a floor is missed or something could not be
 * measured. Installs better-sqlite3 in this folder. Linux only.
 */

const values = readOptions({
  /** Several, with commas between them, are measured one after the other. */
  records: String(judgedFrom),
  rounds: 3,
  /** Later looks of a round. */
  looks: 5,
  only: '',
  directory: tmpdir(),
})
const sizes = values.records.split(',').map(Number)
const { rounds, looks } = values
const chosen = views.filter(({ name }) => name.includes(values.only))
const asksLate = lateRecord.includes(values.only)
if (chosen.length === 0 && !asksLate) throw new Error(`no view is called ${values.only}`)
const peers = { SQLite: makeSqliteSide, PostgreSQL: makePostgresSide } as const

const directory = await makeBenchDirectory(values.directory)
console.log(await describeMachine(directory))

const turns: Turn[] = []
/** By the number of records of the store, or of the larger one. */
const judged = new Map<number, Judged[]>()
const missing = new Set<string>()
for (const records of sizes) await measure(records)
const largest = Math.max(...sizes)
const growth = judgeGrowth(turns)
if (growth.length > 0) judged.set(largest, [...(judged.get(largest) ?? []), ...growth])
for (const [records, bars] of judged)
  console.log(`\n${records.toLocaleString('en')} records\n${verdictTable(bars)}`)
for (const reason of missing) console.log(`not measured: ${reason}`)
if (sizes.some(records => records < judgedFrom))
  console.log(
    `The floors are for ${judgedFrom.toLocaleString('en')} records or more: with fewer nothing is judged.`,
  )
const isReachedByAll = [...judged.values()].flat().every(({ verdicts }) => verdicts.every(isReached))
process.exit(judged.size === 0 || (missing.size === 0 && isReachedByAll) ? 0 : 1)

async function measure(records: number): Promise<void> {
  console.log(`\n${records.toLocaleString('en')} records`)
  const products: ProductSide[] = []
  for (const shape of shapes) products.push(await makeProductSide(shape, directory, records))
  for (const { name, bytesPerRecord, secondsToPack } of products)
    console.log(
      `${name}: ${bytesPerRecord.toFixed(2)} bytes a record, packed in ${secondsToPack.toFixed(1)} s`,
    )
  const sides: Side[] = [...products]
  for (const [name, makeSide] of Object.entries(peers)) {
    try {
      sides.push(await makeSide(directory, rowsFor(name, records)))
    } catch (error) {
      // The others are measured nevertheless.
      if (!(error instanceof ProgramMissing)) throw error
      missing.add(error.message)
    }
  }

  await checkAnswers(sides, chosen, records)
  console.log(
    `equal to the rows, folded one by one: the answers of ${sides.map(({ name }) => name).join('; ')}`,
  )
  const looking = { records, rounds, looks }
  const own = await look(sides, chosen, looking)
  const [, single] = products
  const bars: Judged[] = single ? [judgeDisk(single.name, single.bytesPerRecord)] : []
  if (chosen.includes(csvOfAll))
    for (const side of products) bars.push(judgeCsv(side.name, await growthInCsv(side, records)))
  // Last, since the stores differ from then on.
  if (asksLate) own.push(...(await lookBehindLateRecords(products, looking)))
  turns.push(...own)
  console.log(`\n${rounds} rounds\n${looksTable(own)}`)
  if (records >= judgedFrom) judged.set(records, [...judgeLooks(turns, records), ...bars])
  for (const side of sides) await side.remove()
}
