import { readOptions } from '../../bench/program.ts'
import { JudgedLines } from '../helpers/judged-lines.ts'
import { soakComingAndGoing } from './coming-and-going/load.ts'
import { runSoak, type SoakResult, withServers } from './soak.ts'

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
    }),
  )
  const report = new JudgedLines()
  judge(report, result, rate)
  for (const { code } of exits) report.line(code === 0, `the server ended with ${code}`)
  return report
}

function judge(report: JudgedLines, result: SoakResult, rate: number): void {
  const { records, writes, seconds, refusals } = result.load
  const achieved = records / seconds
  const counts = `${records} records in ${writes} writes, ${achieved.toFixed(0)} records/s`
  report.line(achieved >= rate * bounds.rate, counts)
  report.line(refusals.length === 0, `refused: ${refusals.length} ${refusals.slice(0, 3).join('; ')}`)
  // Who reads slowly gets messages when it has room.
  const slow = result.slow.map(({ name, taken, findings }) => ({ name, taken, findings, longestGap: 0 }))
  for (const { name, taken, findings, longestGap = 0 } of [...result.live, ...slow]) {
    const gap = longestGap > 0 ? `, at most ${longestGap.toFixed(0)} ms apart` : ''
    const isRight = findings.isEmpty && taken > 0 && longestGap < bounds.gap
    report.line(isRight, `${name}: ${taken} messages${gap}; ${findings}`)
  }
  for (const { name, taken, absences, mostMissed, refusals, findings } of result.sessions) {
    const isRight = absences >= bounds.absences && mostMissed < bounds.away && refusals === 0
    const away = `away ${absences} times, ${refusals} times refused for now, at most ${mostMissed} messages behind`
    report.line(findings.isEmpty && isRight, `${name}: ${taken} messages, ${away}; ${findings}`)
  }
  for (const { name, joins, retained, live, findings } of result.joining) {
    const counts = `${joins} SUBSCRIBEs, ${retained} retained and ${live} live messages`
    report.line(findings.isEmpty && joins > 0, `${name}: ${counts}; ${findings}`)
  }
  for (const { name, taken, isCut, findings } of result.stuck) {
    const end = isCut ? 'cut off' : 'never cut off'
    report.line(isCut && findings.isEmpty, `${name}: ${end} behind ${taken} messages; ${findings}`)
  }
  for (const { name, taken, findings } of result.retained) {
    report.line(findings.isEmpty && taken > 0, `${name}: ${taken} retained messages in the end; ${findings}`)
  }
}

const loads: Readonly<Record<string, () => Promise<JudgedLines>>> = {
  order: soakOrder,
  'coming-and-going': () => soakComingAndGoing(options.minutes),
}
const load = loads[options.load]
if (!load) throw new Error(`--load takes one of ${Object.keys(loads).join(', ')}`)
process.exit((await load()).broken === 0 ? 0 : 1)
