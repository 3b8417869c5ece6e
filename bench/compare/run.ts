import { chmod, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { makeBenchDirectory } from '../bench-directory.ts'
import { fillStore } from '../peers/filled-store.ts'
import { besideBefore } from './before.ts'
import { writeChart } from './chart.ts'
import { describeMachine } from './machine.ts'
import { comparisons } from './measures.ts'
import { closeTimes, compare, type Outcome } from './rounds.ts'
import { isReached, machineLine, sideTable, verdictTable } from './table.ts'

/**
 * `npm run bench [-- --rounds 4 --seconds 1 --only <part of a measure's name>]`: the product and its peers side by side;
 * docs/inside/performance.md says what each measure is. Exits with 1 if a floor is missed or something could not be measured; a
 * run on fewer records judges nothing. Linux only.
 */

const { values } = parseArgs({
  options: {
    /** Many and short: a shared core may be slow for several seconds. An even number gives each of two cores as many. */
    rounds: { type: 'string', default: '4' },
    seconds: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    connections: { type: 'string', default: '10' },
    window: { type: 'string', default: '100' },
    records: { type: 'string', default: '2000000' },
    /** Where the stores are: a directory on the disk that is to be measured. */
    directory: { type: 'string', default: tmpdir() },
    /** Other trees, built, to be measured in the place of the peers. */
    before: { type: 'string', multiple: true },
    json: { type: 'string' },
    chart: { type: 'boolean', default: false },
  },
})
const rounds = Number(values.rounds)
const seconds = Number(values.seconds)
const records = Number(values.records)
const judgedFrom = 2_000_000
const longestWarmUp = 3

const named = comparisons.filter(({ name, bars }) =>
  [name, ...bars.map(({ measure }) => `${name}: ${measure}`)].some(text => text.includes(values.only)),
)
const before = values.before?.map(tree => ({
  name: tree,
  command: resolve(tree, 'dist/cli/main.js'),
}))
const chosen =
  before === undefined ? named : named.flatMap(comparison => besideBefore(comparison, before) ?? [])
if (before !== undefined && values.chart)
  throw new Error('--chart draws what is held to floors: leave out --before')
if (chosen.length === 0) throw new Error(`no measure is called ${values.only}`)
const directory = await makeBenchDirectory(values.directory)
// PostgreSQL, which does not run as root, has its files in there.
await chmod(directory, 0o711)
const outcomes: Outcome[] = []
const machine = await describeMachine(directory)
console.log(machineLine(machine))
const filled = await fillStore({
  parent: directory,
  records,
  onProgress: done => progress(`the store holds ${done.toLocaleString('en')} records`),
})
const session = {
  directory,
  filled,
  seconds,
  warmUp: Math.min(seconds, longestWarmUp),
  connections: Number(values.connections),
  window: Number(values.window),
}
for (const comparison of chosen) outcomes.push(await compare(comparison, session, rounds, progress))
if (values.json !== undefined)
  await writeFile(values.json, JSON.stringify({ machine, options: values, outcomes }, null, 2))
if (values.chart)
  await writeChart(outcomes.flatMap(({ name, verdicts }) => verdicts.map(verdict => ({ name, verdict }))))
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

function progress(text: string): void {
  process.stderr.write(`${text}\n`)
}
