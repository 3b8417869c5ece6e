import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { describeMachine, isReached, machineLine, verdictTable } from '../compare/report.ts'
import { ProgramMissing } from '../peers/peer.ts'
import { createProgress, makeBenchDirectory, readOptions, report } from '../program.ts'
import { checkAnswers } from './check.ts'
import { lateRecord, look, lookBehindLateRecords, type Turn } from './looks.ts'
import { makePostgresSide } from './postgres.ts'
import { makeProductSide, type ProductSide, shapes } from './product.ts'
import { views } from './questions.ts'
import type { Side } from './side.ts'
import { makeSqliteSide } from './sqlite.ts'
import {
  type Judged,
  judgeDisk,
  judgedFrom,
  judgeGrowth,
  judgeLooks,
  looksTable,
  storesTable,
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
  /** Peers that are left out, with commas between. */
  without: '',
  directory: tmpdir(),
  json: '',
})
const sizes = values.records.split(',').map(Number)
const { rounds, looks } = values
const chosen = views.filter(({ name }) => name.includes(values.only))
const asksLate = lateRecord.includes(values.only)
if (chosen.length === 0 && !asksLate) throw new Error(`no view is called ${values.only}`)
const peers = { SQLite: makeSqliteSide, PostgreSQL: makePostgresSide } as const
const leftOut = values.without.split(',').filter(name => name !== '')
const unknown = leftOut.find(name => !(name in peers))
if (unknown !== undefined) throw new Error(`${unknown} cannot be left out`)
/** Rows between two looks at how far a store is filled. */
const progressEvery = 10_000

const directory = await makeBenchDirectory(values.directory)
const machine = await describeMachine(directory)
console.log(machineLine(machine))

const turns: Turn[] = []
/** What each side keeps, by the number of records. */
const stores = new Map<number, readonly Side[]>()
/** By the number of records of the store, or of the larger one. */
const judged = new Map<number, Judged[]>()
const missing = new Set<string>()
for (const records of sizes) await measure(records)
const largest = Math.max(...sizes)
const growth = judgeGrowth(turns)
if (growth.length > 0) judged.set(largest, [...(judged.get(largest) ?? []), ...growth])
for (const [records, bars] of judged)
  console.log(`\n${records.toLocaleString('en')} records\n${verdictTable(bars)}`)
for (const reason of [...missing, ...leftOut.map(name => `${name}, as was asked for`)])
  console.log(`not measured: ${reason}`)
if (values.json !== '')
  await writeFile(
    values.json,
    JSON.stringify({ machine, options: values, stores: [...stores], turns, judged: [...judged] }, null, 2),
  )
if (sizes.some(records => records < judgedFrom))
  console.log(
    `The floors are for ${judgedFrom.toLocaleString('en')} records or more: with fewer nothing is judged.`,
  )
const isReachedByAll = [...judged.values()].flat().every(({ verdicts }) => verdicts.every(isReached))
process.exit(judged.size === 0 || (missing.size === 0 && isReachedByAll) ? 0 : 1)

async function measure(records: number): Promise<void> {
  const count = records.toLocaleString('en')
  const products: ProductSide[] = []
  const sides: Side[] = []
  for (const shape of shapes) {
    products.push(await makeProductSide(shape, directory, records, filling(shape.name, records)))
  }
  sides.push(...products)
  for (const [name, makeSide] of Object.entries(peers)) {
    if (leftOut.includes(name)) continue
    try {
      sides.push(await makeSide(directory, records, filling(name, records)))
    } catch (error) {
      // The others are measured nevertheless.
      if (!(error instanceof ProgramMissing)) throw error
      missing.add(error.message)
    }
  }
  stores.set(records, sides)
  console.log(`\n${count} records\n${storesTable(sides)}`)

  await checkAnswers(sides, chosen, records, report)
  console.log(
    `\nequal to the rows, folded one by one: the answers of ${sides.map(({ name }) => name).join('; ')}`,
  )
  const looking = { records, rounds, looks, onProgress: report }
  const own = await look(sides, chosen, looking)
  // Last, since the stores differ from then on.
  if (asksLate) own.push(...(await lookBehindLateRecords(products, looking)))
  turns.push(...own)
  console.log(`\n${count} records, ${rounds} rounds\n${looksTable(own)}`)
  if (records >= judgedFrom) {
    const disk = products
      .filter(({ recordsPerWrite }) => recordsPerWrite === 1)
      .map(({ name, bytesPerRecord }) => judgeDisk(name, bytesPerRecord))
    judged.set(records, [...judgeLooks(turns, records), ...disk])
  }
  for (const side of sides) await side.remove()
}

function filling(name: string, records: number): (done: number) => void {
  const progress = createProgress(records, done => `${name}: ${done.toLocaleString('en')} records`)
  return done => {
    if (done % progressEvery === 0 || done === records) progress(done)
  }
}
