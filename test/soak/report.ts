import { JudgedLines } from '../helpers/judged-lines.ts'
import type { Exit } from '../helpers/server-process.ts'
import type { JoiningSubscriber } from './joining-subscriber.ts'
import type { LiveSubscriber, Subscriber } from './live-subscriber.ts'
import type { LoadResult } from './load.ts'
import type { RetainedResult } from './retained-check.ts'
import type { ReturningSession } from './returning-session.ts'
import type { Memory } from './server-memory.ts'
import type { StuckResult } from './stuck-reader.ts'

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

/** What `npm run soak` says, line by line. */
export class SoakReport extends JudgedLines {
  load({ records, writes, seconds, acks, refusals }: LoadResult, rate: number): void {
    const achieved = records / seconds
    const acked = `ack p50 ${ms(acks.lag(50))}, p99 ${ms(acks.lag(99))}, max ${ms(acks.maximumLag)}`
    const counts = `${records} records in ${writes} writes, ${achieved.toFixed(0)} records/s`
    this.line(
      achieved >= rate * bounds.rate,
      `${counts}; ${acked}; longest time without an ack ${ms(acks.maximumGap)}`,
    )
    this.line(refusals.length === 0, `refused: ${refusals.length} ${refusals.slice(0, 3).join('; ')}`)
  }

  live(subscribers: readonly LiveSubscriber[]): void {
    for (const subscriber of subscribers) {
      const { hearsAll, timing, findings, taken } = subscriber
      const isRight = findings.isEmpty && taken > 0 && (!hearsAll || timing.maximumGap < bounds.gap)
      const gap = `gap ${ms(timing.maximumGap)}${hearsAll ? '' : ' of some, not judged'}`
      this.line(isRight, `live, ${describe(subscriber)}; ${gap}`)
    }
  }

  slow(subscribers: readonly Subscriber[]): void {
    for (const subscriber of subscribers) {
      this.line(subscriber.findings.isEmpty && subscriber.taken > 0, describe(subscriber))
    }
  }

  sessions(sessions: readonly ReturningSession[]): void {
    for (const session of sessions) {
      const { absences, mostMissed, repeated, refusals } = session
      const times = session.catchingUp.toSorted((a, b) => a - b)
      const [median = 0, last = 0] = [times[Math.floor(times.length / 2)], times.at(-1)]
      const isRight =
        session.findings.isEmpty && absences >= bounds.absences && mostMissed < bounds.away && refusals === 0
      const away = `away ${absences} times, ${refusals} times refused for now, at most ${mostMissed} messages behind; ${repeated} again with DUP; caught up in p50 ${ms(median)}, max ${ms(last)}`
      this.line(isRight, `${describe(session)}; ${away}`)
    }
  }

  joining(subscribers: readonly JoiningSubscriber[]): void {
    for (const { name, joins, retained, live, findings } of subscribers) {
      const counts = `${joins} SUBSCRIBEs, ${retained} retained and ${live} live messages`
      this.line(
        findings.isEmpty && joins > 0,
        `${name}: ${counts}; ${findings.isEmpty ? 'all right' : findings}`,
      )
    }
  }

  stuck(results: readonly StuckResult[]): void {
    for (const { name, tookBytes, tookFor, goneAfter, taken, findings } of results) {
      const took = `its socket took ${(tookBytes / 1e6).toFixed(1)} MB in ${ms(tookFor)}`
      const gone = goneAfter === Infinity ? 'never cut off' : `gone ${ms(goneAfter)} after that`
      const isRight = goneAfter <= bounds.gone && findings.isEmpty
      const got = `${taken} messages, ${findings.isEmpty ? 'a beginning without gaps' : findings}`
      this.line(isRight, `${name}: ${took}, ${gone}; ${got}`)
    }
  }

  retained(results: readonly RetainedResult[]): void {
    for (const { taken, findings } of results) {
      const text = findings.isEmpty ? 'what was written last, and what REST gives' : String(findings)
      this.line(findings.isEmpty && taken > 0, `${taken} retained messages in the end: ${text}`)
    }
  }

  server({ code, stderr }: Exit, { start, highest, end, processor }: Memory): void {
    const [before, most, after] = [start, highest, end].map(bytes => (bytes / 1e6).toFixed(0))
    const complaints = stderr.split('\n').filter(line => /"level":(40|50|60)|Error/.test(line))
    const memory = `resident ${before} MB before, at most ${most} MB, ${after} MB at the end`
    this.line(
      code === 0,
      `the server: ${memory}; ${processor.toFixed(0)} s of processor time; ended with ${code}`,
    )
    console.log(
      `its log has ${complaints.length} warnings and errors ${complaints.slice(0, 3).join(' ').slice(0, 600)}`,
    )
  }
}

function describe({ name, taken, timing, findings }: Subscriber): string {
  const lag = `lag p50 ${ms(timing.lag(50))}, p99 ${ms(timing.lag(99))}, max ${ms(timing.maximumLag)}`
  return `${name}: ${taken} messages, ${findings.isEmpty ? 'each once, in order' : findings}; ${lag}`
}

function ms(milliseconds: number): string {
  return `${milliseconds.toFixed(milliseconds < 10 ? 1 : 0)} ms`
}
