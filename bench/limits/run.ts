import { parseArgs } from 'node:util'
import { createThing, readAll } from '../../test/helpers/http-client.ts'
import type { ServerProcess } from '../../test/helpers/server-process.ts'
import { withServer } from '../../test/helpers/with-server.ts'
import { Doors } from '../load/doors.ts'
import { createProgress } from '../load/progress.ts'
import { quantile } from '../statistics.ts'
import { type Latencies, measureNeighbour } from './neighbour.ts'
import { type Door, key, makeNoise, type Outcome } from './noisy.ts'

/**
 * `npm run bench:limits [-- --seconds 20]`: one thing writes ten times what it may, for so many seconds through each door;
 * another one keeps to its limit. Quiet and noise alternate, so that what the machine does besides meets both. Exits with 1
 * if a bound is missed.
 */

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '20' } } })
const seconds = Number(values.seconds)
const writesPerSecond = 100
const excess = 10
/** What the thing may write at once: 5 s of its rate (contract §9). */
const burst = 5 * writesPerSecond
/** Seconds. In so much quiet the 256 writes that a connection may have left in hand are paid, and the burst is there again. */
const phases = { noisy: 5, quiet: 8 }
const rounds = Math.max(1, Math.round(seconds / phases.noisy))
const doors = ['MQTT', 'HTTP'] as const
const limit = 'write_rate_exceeded'

const results: {
  readonly measure: string
  readonly figure: string
  readonly bound: string
  readonly holds: boolean
}[] = []
await withServer({ environment: { THINGWIRE_WRITES_PER_SECOND: String(writesPerSecond) } }, bench)
console.table(results)
process.exit(results.every(({ holds }) => holds) ? 0 : 1)

async function bench(server: ServerProcess): Promise<void> {
  const [thing, other] = [await createThing(server), await createThing(server)]
  const neighbour = await Doors.open(server, other)
  const onProgress = createProgress(2 * doors.length * rounds + 1, done => `phases done: ${done}`)
  let done = 0
  const measure = async (seconds: number, into: Latencies) => {
    await measureNeighbour(neighbour, seconds * 1_000, into)
    onProgress(++done)
  }
  // What is compiled and allocated first is nobody's noise.
  await measure(phases.quiet, noLatencies())

  let value = 0
  for (const door of doors) {
    const [quiet, noisy] = [noLatencies(), noLatencies()]
    const outcomes: Outcome[] = []
    const before = await limitsMet(server)
    for (let round = 0; round < rounds; round++) {
      await measure(phases.quiet, quiet)
      const load = {
        server,
        thing,
        rate: excess * writesPerSecond,
        duration: phases.noisy * 1_000,
        nextValue: () => value++,
      }
      const [outcome] = await Promise.all([makeNoise[door](load), measure(phases.noisy, noisy)])
      outcomes.push(outcome)
    }
    const after = await limitsMet(server)
    const stored = (await readAll(server, thing, key)).map(record => Number(record.value))
    judgeLoad(door, outcomes, new Set(stored), difference(before, after))
    for (const of of doors) judgeNeighbour(door, of, quiet, noisy)
  }
  await neighbour.close()
}

function judgeLoad(
  door: Door,
  outcomes: readonly Outcome[],
  stored: ReadonlySet<number>,
  met: ReadonlyMap<string, number>,
): void {
  const acked = outcomes.flatMap(outcome => outcome.acked)
  const refused = outcomes.flatMap(outcome => outcome.refused)
  const unexpected = outcomes.flatMap(outcome => outcome.unexpected)
  const sent = outcomes.reduce((sum, outcome) => sum + outcome.sent, 0)
  const rates = outcomes.map(rateBeyondBurst).sort((a, b) => a - b)
  const lost = acked.filter(each => !stored.has(each.value)).length
  console.log(
    `\n${door}: ${sent} sent, ${acked.length} acked, ${refused.length} refused with 429; ` +
      `longest ack ${Math.round(Math.max(...acked.map(each => each.afterMilliseconds)))} ms; met: ` +
      [...met].map(([name, times]) => `${name} ${times}`).join(', '),
  )
  const median = rates[Math.floor(rates.length / 2)] ?? 0
  report(
    `${door}: sent a second`,
    sent / rounds / phases.noisy,
    `at least ${0.9 * excess * writesPerSecond}`,
    figure => {
      return figure >= 0.9 * excess * writesPerSecond
    },
  )
  report(`${door}: acked a second beyond the burst (median)`, median, '90 to 100', figure => {
    return figure >= 0.9 * writesPerSecond && figure <= writesPerSecond
  })
  report(`${door}: acked and not stored`, lost, '0', figure => figure === 0)
  const times = met.get(limit) ?? 0
  if (door === 'HTTP') {
    report('HTTP: refused and yet stored', refused.filter(each => stored.has(each)).length, '0', isNone)
    report('HTTP: answered neither 201 nor 429 as documented', unexpected.length, '0', isNone)
    report(`HTTP: ${limit}`, times, `${refused.length}, as were refused`, figure => figure === refused.length)
  } else {
    const waited = acked.length - rounds * (burst + 1)
    report(`MQTT: ${limit}`, times, `at least ${waited}, as waited`, figure => waited > 0 && figure >= waited)
  }
  report(`${door}: other limits met`, met.size - (met.has(limit) ? 1 : 0), '0', isNone)
}

/** Acks that are not of the burst, by the time up to the last one: the limit, if it is asked for more all the time. */
function rateBeyondBurst({ acked, begin }: Outcome): number {
  const last = acked.at(-1)
  return last ? ((acked.length - burst - 1) / (last.at - begin)) * 1_000 : 0
}

function judgeNeighbour(door: Door, of: Door, quiet: Latencies, noisy: Latencies): void {
  const inQuiet = quantile(quiet[of], 0.99)
  const bound = Math.max(1.5 * inQuiet, inQuiet + 5)
  const text = `at most ${bound.toFixed(1)} (quiet: ${inQuiet.toFixed(1)})`
  const measure = `ack p99 of the ${of} neighbour while ${door} is noisy, ms`
  report(measure, quantile(noisy[of], 0.99), text, figure => figure <= bound)
}

function report(measure: string, figure: number, bound: string, holds: (figure: number) => boolean): void {
  results.push({
    measure,
    figure: figure.toFixed(Number.isInteger(figure) ? 0 : 1),
    bound,
    holds: holds(figure),
  })
}

/** How often each limit was met, by the server's own count. */
async function limitsMet({ url }: ServerProcess): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const samples = text.matchAll(/^thingwire_limits_met_total\{limit="(\w+)"\} (\d+)$/gm)
  return new Map([...samples].map(([, name = '', times]) => [name, Number(times)]))
}

/** What was met in between. */
function difference(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>) {
  const met = [...after].map(([name, times]) => [name, times - (before.get(name) ?? 0)] as const)
  return new Map(met.filter(([, times]) => times > 0))
}

function isNone(figure: number): boolean {
  return figure === 0
}

function noLatencies(): Latencies {
  return { MQTT: [], HTTP: [] }
}
