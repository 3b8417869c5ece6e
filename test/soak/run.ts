import { createProgress, readOptions } from '../../bench/program.ts'
import { JudgedLines } from '../helpers/judged-lines.ts'
import { soakComingAndGoing } from './coming-and-going/load.ts'
import { runSoak, type SoakResult, withServers } from './soak.ts'
import { ms, type Subscriber } from './subscribers.ts'

/**
 * `npm run soak [-- --load order --things 100 --records 100000 --rate 2000 --nodes 2]`: order and loss of live messages.
 * `npm run soak -- --load coming-and-going [--minutes 30]`: memory of one server while clients come and go.
 * Ends with status 1 if a promise broke. Linux only.
 */
const options = readOptions({
  load: 'order',
  things: 100,
  records: 100_000,
  /** Records a second. */
  rate: 2_000,
  /** Characters. */
  padding: 300,
  /** On one Redis; 0 for one server with its embedded store. */
  nodes: 0,
  minutes: 30,
})

/** What is promised, and what makes a run worth its name. */
const bounds = {
  /** Of the rate that was asked for. */
  rate: 0.98,
  /** Milliseconds. */
  gap: 1_000,
  /** `drainTimeout` and a second more, milliseconds. */
  gone: 6_000,
  /** A session away for more may lose some, as it may by the contract. */
  away: 1_000,
  absences: 5,
}

/** Order and loss of live messages, with subscribers of every kind at once, at one server or at each of several. */
async function soakOrder(): Promise<JudgedLines> {
  const { things, records, rate, padding, nodes } = options
  const where = nodes > 0 ? `${nodes} nodes on one Redis` : 'one server'
  console.log(`${things} things, ${records} records at ${rate} records/s, ${where}`)
  // So slow that less waits for it in the end than the bound of 8 MiB, by the size of a message as measured; bytes.
  const bytesPerRecord = 96 + 0.146 * padding
  const mayWait = 5_500_000
  const pace = rate * bytesPerRecord - mayWait / (records / rate)
  const { result, exits } = await withServers(nodes, servers =>
    runSoak({
      ...{ nodes: servers, things, records, rate, padding, awayFor: 600, patience: 15_000, hasStuck: true },
      slowPace: { all: Math.max(170_000, Math.round(pace)), some: 20_000 },
      onProgress: createProgress(records, done => `records written: ${done} of ${records}`),
    }),
  )
  const report = new JudgedLines()
  judge(report, result, rate)
  for (const { code, stderr } of exits) {
    report.line(code === 0, `the server ended with ${code}`)
    const complaints = stderr.split('\n').filter(line => /"level":(40|50|60)|Error/.test(line))
    console.log(
      `its log has ${complaints.length} complaints ${complaints.slice(0, 3).join(' ').slice(0, 600)}`,
    )
  }
  return report
}

function judge(report: JudgedLines, result: SoakResult, rate: number): void {
  const { records, writes, seconds, acks, refusals } = result.load
  const achieved = records / seconds
  const counts = `${records} records in ${writes} writes, ${achieved.toFixed(0)} records/s`
  report.line(
    achieved >= rate * bounds.rate,
    `${counts}; ack ${acks}; longest time without an ack ${ms(acks.maximumGap)}`,
  )
  report.line(refusals.length === 0, `refused: ${refusals.length} ${refusals.slice(0, 3).join('; ')}`)
  for (const subscriber of result.live) {
    const { hearsAll, timing, findings, taken } = subscriber
    const isRight = findings.isEmpty && taken > 0 && (!hearsAll || timing.maximumGap < bounds.gap)
    const gap = `gap ${ms(timing.maximumGap)}${hearsAll ? '' : ' of some, not judged'}`
    report.line(isRight, `live, ${describe(subscriber)}; ${gap}`)
  }
  for (const subscriber of result.slow)
    report.line(subscriber.findings.isEmpty && subscriber.taken > 0, describe(subscriber))
  for (const session of result.sessions) {
    const { absences, mostMissed, repeated, refusals, findings } = session
    const times = session.catchingUp.toSorted((a, b) => a - b)
    const [median = 0, last = 0] = [times[Math.floor(times.length / 2)], times.at(-1)]
    const isRight = absences >= bounds.absences && mostMissed < bounds.away && refusals === 0
    const away = `away ${absences} times, ${refusals} times refused for now, at most ${mostMissed} messages behind; ${repeated} again with DUP; caught up in p50 ${ms(median)}, max ${ms(last)}`
    report.line(findings.isEmpty && isRight, `${describe(session)}; ${away}`)
  }
  for (const { name, joins, retained, live, findings } of result.joining) {
    const counts = `${joins} SUBSCRIBEs, ${retained} retained and ${live} live messages`
    report.line(
      findings.isEmpty && joins > 0,
      `${name}: ${counts}; ${findings.isEmpty ? 'all right' : findings}`,
    )
  }
  for (const { name, tookBytes, tookFor, goneAfter, taken, findings } of result.stuck) {
    const took = `its socket took ${(tookBytes / 1e6).toFixed(1)} MB in ${ms(tookFor)}`
    const gone = goneAfter === Infinity ? 'never cut off' : `gone ${ms(goneAfter)} after that`
    const got = `${taken} messages, ${findings.isEmpty ? 'a beginning without gaps' : findings}`
    report.line(goneAfter <= bounds.gone && findings.isEmpty, `${name}: ${took}, ${gone}; ${got}`)
  }
  for (const { taken, findings } of result.retained) {
    const text = findings.isEmpty ? 'what was written last, and what REST gives' : String(findings)
    report.line(findings.isEmpty && taken > 0, `${taken} retained messages in the end: ${text}`)
  }
}

function describe({ name, taken, timing, findings }: Subscriber): string {
  return `${name}: ${taken} messages, ${findings.isEmpty ? 'each once, in order' : findings}; lag ${timing}`
}

const loads: Readonly<Record<string, () => Promise<JudgedLines>>> = {
  order: soakOrder,
  'coming-and-going': () => soakComingAndGoing(options.minutes),
}
const load = loads[options.load]
if (!load) throw new Error(`--load takes one of ${Object.keys(loads).join(', ')}`)
process.exit((await load()).broken === 0 ? 0 : 1)
