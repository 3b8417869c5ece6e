import { tmpdir } from 'node:os'
import { storeLocation } from '../../src/server/keeping/choose-store.ts'
import { createThing } from '../../test/helpers/http-client.ts'
import { noRateLimits } from '../../test/helpers/server-process.ts'
import { aligned, describeMachine, figureText } from '../compare/report.ts'
import { readings, runWrites, steadily } from '../load/writes.ts'
import { metricsOf, startOwnServer } from '../peers/product.ts'
import { makeBenchDirectory, readOptions, report } from '../program.ts'
import { countRecords, leftOfResource } from './packed-store.ts'

/**
 * `npm run bench:compaction [-- --rate 20000 --seconds 600]`: whether the compactor keeps up with devices that write one record at a
 * time, and what acks and the event loop are like meanwhile; docs/inside/performance.md says how. Exits with 1 if a run that is
 * long enough leaves too many records unpacked. Linux only.
 */

/** `rate`: writes a second. */
const options = { rate: 5_000, seconds: 600, things: 20, directory: tmpdir() }
const { rate, seconds, things: count, directory: parent } = readOptions(options)
/** Before anything is measured; it is written and packed as well. */
const warmUp = 2
/** In the server's own figures of its event loop: the time from one look at it to the next, milliseconds. */
const lookEvery = 10
const judgedFrom = 600
/** A compactor that is any slower than the writes leaves more of ten minutes than this. */
const mostBehind = 0.01

const directory = await makeBenchDirectory(parent)
console.log(await describeMachine(directory))

const server = await startOwnServer({ dataDir: directory, environment: noRateLimits })
const things = await Promise.all(Array.from({ length: count }, () => createThing(server)))
// Each thing writes to one key of its own.
const tokens = things.map(({ thingToken }) => thingToken)
report(`${rate} writes/s for ${seconds} s`)
const { values, marks } = readings(() => metricsOf(server))
const load = await runWrites(steadily(server.mqttUrl, tokens, rate), { warmUp, measured: seconds }, marks)
const [atBegin = () => Number.NaN, atEnd = atBegin] = values
const [committing, commits] = ['sum', 'count'].map(part => {
  const name = `thingwire_commit_duration_seconds_${part}`
  return atEnd(name) - atBegin(name)
})
const commit = ((committing ?? Number.NaN) / (commits ?? Number.NaN)) * 1_000
// Delays are those since the last scrape.
const delays = ['p50', 'p99', 'max'].map(
  name => atEnd(`nodejs_eventloop_lag_${name}_seconds`) * 1_000 - lookEvery,
)
await server.stop()
// What is left is counted as the server left it.
const { packed, unpacked } = await countRecords(storeLocation(directory))
const kept = packed + unpacked
const behind = Math.max(0, unpacked - count * leftOfResource) / kept

const { p50 = NaN, p99 = NaN, max = NaN } = load.latency ?? {}
const rows: readonly (readonly [string, ...number[]])[] = [
  ['writes acked a second', load.done / load.seconds],
  ['records kept', kept],
  ['of them unpacked at the end', unpacked],
  [`of which the compactor leaves ${leftOfResource} a resource, at most`, count * leftOfResource],
  ['behind, % of the records', behind * 100],
  ['ack p50, p99, longest, ms', p50, p99, max],
  ['commit, mean, ms', commit],
  ['event loop delay p50, p99, longest, ms', ...delays],
]
const texts = rows.map(([name, ...figures]) => [name, figures.map(figure => figureText(figure)).join(', ')])
console.log(`\n${aligned(texts)}`)
const isJudged = seconds >= judgedFrom
const keepsUp = behind <= mostBehind
if (isJudged) console.log(`The compactor ${keepsUp ? 'keeps' : 'does not keep'} up with ${rate} writes/s.`)
else console.log(`Whether the compactor keeps up is judged from ${judgedFrom} s on.`)
process.exit(isJudged && !keepsUp ? 1 : 0)
