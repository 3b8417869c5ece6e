import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { parseArgs } from 'node:util'
import { storeLocation } from '../../src/server/keeping/choose-store.ts'
import { createThing, type Thing } from '../../test/helpers/http-client.ts'
import { noRateLimits, type ServerProcess, startServer } from '../../test/helpers/server-process.ts'
import { makeBenchDirectory } from '../bench-directory.ts'
import { describeMachine } from '../compare/machine.ts'
import { aligned, figureText, machineLine } from '../compare/table.ts'
import type { LoadResult } from '../load/load.ts'
import { writeMqtt } from '../load/mqtt-writers.ts'
import { host } from '../peers/peer.ts'
import { endWithUs } from '../peers/program.ts'
import { MetricsReader } from './metrics-reader.ts'
import { countRecords, leftOfResource } from './packed-store.ts'

/**
 * `npm run bench:compaction [-- --rate 20000 --seconds 600]`: whether the compactor keeps up with devices that write one record at a
 * time, and what acks and the event loop are like meanwhile; docs/inside/performance.md says how. Exits with 1 if a run that is
 * long enough leaves too many records unpacked. Linux only.
 */

const { values } = parseArgs({
  options: {
    /** Writes a second. */
    rate: { type: 'string', default: '5000' },
    seconds: { type: 'string', default: '600' },
    things: { type: 'string', default: '20' },
    directory: { type: 'string', default: tmpdir() },
    json: { type: 'string' },
  },
})
const [rate, seconds, count] = [values.rate, values.seconds, values.things].map(Number) as [
  number,
  number,
  number,
]
/** Before anything is measured; it is written and packed as well. */
const warmUp = 2
/** Of one connection. */
const mostUnacked = 4_000
/** Of the writers, milliseconds. */
const rest = 2
const judgedFrom = 600
/** A compactor that is any slower than the writes leaves more of ten minutes than this. */
const mostBehind = 0.01

const directory = await makeBenchDirectory(values.directory)
const machine = await describeMachine(directory)
console.log(machineLine(machine))

const server = await startServer({ dataDir: directory, environment: noRateLimits })
endWithUs(server.process)
const things = await Promise.all(Array.from({ length: count }, () => createThing(server)))
const metrics = new MetricsReader(server)
process.stderr.write(`${rate} writes/s for ${seconds} s\n`)
const load = await writeSingles(server, things)
const during = metrics.sinceBegin()
await server.stop()
// What is left is counted as the server left it.
const { packed, unpacked } = await countRecords(storeLocation(directory))
const kept = packed + unpacked
const behind = Math.max(0, unpacked - count * leftOfResource) / kept

const [p50, p99, max] = [load.latency?.p50, load.latency?.p99, load.latency?.max].map(
  time => (time ?? Number.NaN) / 1_000,
)
const rows = [
  ['writes acked a second', figureText(load.done / load.seconds)],
  ['records kept', kept.toLocaleString('en')],
  ['of them unpacked at the end', unpacked.toLocaleString('en')],
  [
    `of which the compactor leaves ${leftOfResource} a resource, at most`,
    (count * leftOfResource).toLocaleString('en'),
  ],
  ['behind, % of the records', figureText(behind * 100)],
  ['ack p50, p99, longest, ms', [p50, p99, max].map(time => figureText(time ?? Number.NaN)).join(', ')],
  ['commit, mean, ms', figureText(during.commit)],
  ['event loop delay p50, p99, longest, ms', during.delays.map(time => figureText(time)).join(', ')],
]
console.log(`\n${aligned(rows)}`)
const result = { machine, options: values, load, packed, unpacked, behind, ...during }
if (values.json !== undefined) await writeFile(values.json, JSON.stringify(result, null, 2))
const isJudged = seconds >= judgedFrom
const keepsUp = behind <= mostBehind
if (isJudged) console.log(`The compactor ${keepsUp ? 'keeps' : 'does not keep'} up with ${rate} writes/s.`)
else console.log(`Whether the compactor keeps up is judged from ${judgedFrom} s on.`)
process.exit(isJudged && !keepsUp ? 1 : 0)

/** Each thing writes to one key of its own. */
function writeSingles(server: ServerProcess, things: readonly Thing[]): Promise<LoadResult> {
  return writeMqtt(
    {
      host,
      ports: [Number(new URL(server.mqttUrl).port)],
      connections: things.length,
      clientIdPrefix: 'writer-',
      topics: things.map(({ thingToken }) => `things/${thingToken}/write`),
      payload: '{"values":[{"key":"n","value":21.5}]}',
      qos: 1,
      window: mostUnacked,
      rate,
      rest,
    },
    { warmUp, measured: seconds },
    { onBegin: () => metrics.begin(), onEnd: () => metrics.end() },
  )
}
