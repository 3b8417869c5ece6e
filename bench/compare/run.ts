import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { makeBenchDirectory, readOptions, report } from '../program.ts'
import { besideBefore, closeTimes, compare, type Outcome } from './comparison.ts'
import { comparisons } from './measures.ts'
import { describeMachine, isReached, sideTable, verdictTable } from './report.ts'

/**
 * `npm run bench [-- --rounds 4 --seconds 1 --only <part of a measure's name>]`: the product and its peers side by side;
 * docs/inside/performance.md says what each measure is. Exits with 1 if a floor is missed or something could not be measured; a
 * run on fewer records judges nothing. Linux only.
 */

const values = readOptions({
  /** Many and short: a shared core may be slow for several seconds. An even number gives each of two cores as many. */
  rounds: 4,
  seconds: 1,
  only: '',
  records: 2_000_000,
  /** Where the stores are: a directory on the disk that is to be measured. */
  directory: tmpdir(),
  /** Other trees, built, to be measured in the place of the peers; the earliest first. */
  before: [],
})
const { rounds, seconds, records } = values
const judgedFrom = 2_000_000
const longestWarmUp = 3

const named = comparisons.filter(({ name, bars }) =>
  [name, ...bars.map(({ measure }) => `${name}: ${measure}`)].some(text => text.includes(values.only)),
)
const before = values.before.map(tree => ({ name: tree, command: resolve(tree, 'dist/cli/main.js') }))
const chosen =
  before.length === 0 ? named : named.flatMap(comparison => besideBefore(comparison, before) ?? [])
if (chosen.length === 0) throw new Error(`no measure is called ${values.only}`)
const directory = await makeBenchDirectory(values.directory)
const outcomes: Outcome[] = []
console.log(await describeMachine(directory))
// By the earliest build: it may not know the format of a later one.
const { fillStore }: typeof import('../peers/product.ts') = await import(
  values.before[0] ? resolve(values.before[0], 'bench/peers/product.ts') : '../peers/product.ts'
)
const filled = await fillStore(directory, records, done =>
  report(`the store holds ${done.toLocaleString('en')} records`),
)
const warmUp = Math.min(seconds, longestWarmUp)
const session = { directory, filled, seconds, warmUp }
for (const comparison of chosen) outcomes.push(await compare(comparison, session, rounds, report))
console.log(
  `${records.toLocaleString('en')} records in the store, ${rounds} rounds of ${seconds} s, ` +
    `${closeTimes * rounds} where a figure lies near its floor\n`,
)
console.log(
  `${verdictTable(outcomes)}\n\nCores: * saturated, as a process of one thread.\n${sideTable(outcomes)}`,
)
for (const { name, missing } of outcomes)
  for (const reason of missing) console.log(`not measured: ${name}, ${reason}`)
const isJudged = records >= judgedFrom
if (!isJudged) console.log(`A short run: the floors are for ${judgedFrom.toLocaleString('en')} records.`)
const verdicts = outcomes.flatMap(outcome => outcome.verdicts)
const isComplete = outcomes.every(({ missing }) => missing.length === 0)
process.exit(isComplete && (!isJudged || verdicts.every(isReached)) ? 0 : 1)
