import { type MagicKillPoint, MagicRun, magicKillPoints } from './magic-kill.ts'
import type { Report } from './report.ts'
import { SessionRun, sessionKillPoints } from './session-kill.ts'

interface Killed {
  readonly proof: string | undefined
  readonly kills: number
  readonly acks: number
  readonly violations: readonly string[]
}

/** Kills a server that has magic records to apply. @param wanted kills at points that were reached */
export async function killApplying(report: Report, dataDir: string, wanted: number): Promise<void> {
  const run = new MagicRun(dataDir)
  let waited = 0
  // Kills in a replay cost little.
  const points = magicKillPoints.flatMap<MagicKillPoint>((point, place) =>
    place % 4 === 3 ? [point, 'in replays'] : [point],
  )
  try {
    await killInTurn({ report, what: 'magic', points, wanted }, async point => {
      const kill = await run.kill(point)
      waited += kill.waiting
      return { ...kill, note: `${kill.waiting} of them known to wait` }
    })
    report.list('magic: the history of everything', await run.finish())
  } finally {
    await run.abandon()
  }
  report.line(waited > 0, `magic: ${waited} times an acked write was not applied when its server was killed`)
}

/** Kills a server that has messages for persistent sessions and streams. @param wanted as above */
export async function killSessions(report: Report, dataDir: string, wanted: number): Promise<void> {
  const run = new SessionRun(dataDir)
  try {
    await killInTurn({ report, what: 'sessions', points: sessionKillPoints, wanted }, async point => {
      const kill = await run.kill(point)
      return { ...kill, note: `messages that came again so far: ${kill.repeated}` }
    })
    report.list('sessions: at the end', await run.finish())
  } finally {
    await run.abandon()
  }
}

interface InTurn<Point> {
  readonly report: Report
  readonly what: string
  readonly points: readonly Point[]
  readonly wanted: number
}

async function killInTurn<Point extends string>(
  { report, what, points, wanted }: InTurn<Point>,
  kill: (point: Point) => Promise<Killed & { readonly note: string }>,
): Promise<void> {
  const rounds: (Killed & { readonly point: Point })[] = []
  const reached = () => rounds.filter(({ proof }) => proof !== undefined)
  const count = () => reached().reduce((sum, { kills }) => sum + kills, 0)
  // Rounds in which a point was not reached are checked, and not counted; so many of them are too many.
  for (let round = 0; count() < wanted && round < 2 * wanted; round++) {
    const point = points[round % points.length] as Point
    const { proof, kills, acks, violations, note } = await kill(point)
    rounds.push({ point, proof, kills, acks, violations })
    const text = `${acks} acks, ${note}; ${(proof ?? 'not reached').slice(0, 80)}`
    report.list(`${what}, round ${round + 1}, ${point}: ${text}`, violations)
  }
  console.table(Object.fromEntries(points.map(point => [point, rowOf(rounds, point)])))
  for (const point of new Set(points)) {
    const times = reached().filter(each => each.point === point).length
    report.line(times > 0, `${what}, ${point}: reached ${times} times`)
  }
  const acks = rounds.reduce((sum, each) => sum + each.acks, 0)
  report.line(count() >= wanted, `${what}: ${count()} kills at points that were reached, ${acks} acks`)
}

function rowOf<Point>(all: readonly (Killed & { readonly point: Point })[], point: Point) {
  const rounds = all.filter(each => each.point === point)
  const sum = (number: (each: Killed) => number) => rounds.reduce((total, each) => total + number(each), 0)
  return {
    rounds: rounds.length,
    reached: rounds.filter(({ proof }) => proof !== undefined).length,
    kills: sum(({ kills }) => kills),
    acks: sum(({ acks }) => acks),
    violations: sum(({ violations }) => violations.length),
  }
}
