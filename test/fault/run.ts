import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { withDirectory } from '../helpers/with-server.ts'
import { chosen, Report, withRounds } from '../rig/program.ts'
import type { Fault, Round, RoundsSetup } from '../rig/rounds.ts'
import { isAtQos, wayOf, ways } from '../rig/writes.ts'
import { historiesAtOnce, runHistories } from '../store/level/histories/run-histories.ts'
import { cutConnections, failedSync, failedWrites, killedInFailedSync, pauseFaults } from './faults.ts'
import {
  type Course,
  killAt,
  killPoints,
  magicPoints,
  sessionPoints,
  sourcePoints,
  willPoints,
} from './kill.ts'
import { delayedSync, traceAcks } from './power-loss.ts'

/**
 * `npm run fault`: kill -9, loss of power, failing and late disks, pauses, in full. Prints what it found; ends with status 1 if a
 * promise broke. `--only <scenario>` runs one of them; `--rounds` of each fault, instead of those here.
 */
const { values } = parseArgs({ options: { only: { type: 'string' }, rounds: { type: 'string' } } })
const rounds = (planned: number) => Number(values.rounds ?? planned)
const report = new Report()

interface Kills {
  readonly setup: RoundsSetup
  readonly points: Readonly<Record<string, Course>>
  /** Rounds in which it was reached, of each point. */
  readonly each: number
  readonly acks?: number
}

/** Rounds in which a point was not reached are checked, and not counted; so many of them, for each, are too many. */
const tries = 4

async function killInTurn(what: string, { setup, points, each, acks = 0 }: Kills): Promise<void> {
  await withRounds(report, setup, async run => {
    let number = 0
    const kill = (point: string, course: Course) => report.round(run, killAt(point, course), ++number)
    for (const [point, course] of Object.entries(points)) {
      let [reached, tried] = [0, 0]
      while (reached < rounds(each) && tried++ < tries * rounds(each)) {
        if ((await kill(point, course)).proof !== undefined) reached++
      }
      report.line(reached >= rounds(each), `${what}, ${point}: reached ${reached} times`)
    }
    while (values.rounds === undefined && run.acks < acks) await kill('random moment', { most: 0 })
  })
}

/** @param each rounds of each fault */
async function breakInTurn(setup: RoundsSetup, faults: readonly Fault[], each = 1): Promise<Round[]> {
  const found: Round[] = []
  await withRounds(report, setup, async run => {
    for (let number = 1; number <= rounds(each); number++) {
      for (const fault of faults) {
        const round = await report.round(run, fault, number)
        if ('proof' in round) report.line(round.proof !== undefined, `${fault.name}: it did happen`)
        found.push(round)
      }
    }
  })
  return found
}

async function losePower(dataDir: string): Promise<void> {
  const traced = await traceAcks({ dataDir: join(dataDir, 'traced'), writes: 500 })
  const { covered, completed, violations, acks } = traced
  report.list('acks before their fdatasync, or out of order', violations)
  for (const way of ways) {
    const count = new Set(covered.filter(name => wayOf(name) === way)).size
    report.line(count === acks[way], `acks over ${way} after their fdatasync: ${count} of ${acks[way]}`)
  }
  const text = `PUBCOMPs after the fdatasync of the removal of their packet id: ${completed.length}`
  const completable = ways.filter(way => isAtQos(2, way)).reduce((sum, way) => sum + acks[way], 0)
  report.line(new Set(completed).size === completable, text)
  const [syncDelay, writes] = [300, 100]
  const took = await delayedSync({ dataDir: join(dataDir, 'delayed'), writes }, syncDelay)
  const earliest = Math.min(...took)
  report.line(
    took.length >= writes * ways.length && earliest >= syncDelay,
    `fsync held back ${syncDelay} ms: ${took.length} acks, the earliest after ${earliest.toFixed(0)} ms`,
  )
}

/** What the records of a store add up to, while it is packed and killed. */
async function killHistories(directory: string): Promise<void> {
  const histories = rounds(100) * 100
  let [firstSeed, ran, kills] = [1 + Math.floor(Math.random() * 2 ** 30), 0, 0]
  const runOne = async () => {
    while (ran < histories) {
      ran += historiesAtOnce
      const seed = firstSeed
      firstSeed += historiesAtOnce
      const found = await runHistories(directory, seed)
      kills += found.kills
      report.list(`${historiesAtOnce} histories from seed ${seed} on, ${found.kills} kills`, found.faults)
    }
  }
  await Promise.all([runOne(), runOne()])
  report.line(kills > ran / historiesAtOnce, `${ran} histories, ${kills} kills`)
}

const scenarios: Readonly<Record<string, (dataDir: string) => Promise<void>>> = {
  kills: async dataDir => {
    // Two at a time, since much of a life of a server is waiting; the others look at times, and at every call of one.
    const setup = (name: string, who: RoundsSetup['cast'][number]) =>
      ({ dataDir: join(dataDir, name), cast: [who], writers: 16, deadline: 30_000 }) as const
    const heavy = { setup: setup('heavy', 'heavy'), points: killPoints, each: 5, acks: 20_000 }
    const steady = { setup: setup('steady', 'steady'), points: sessionPoints, each: 4 }
    const magic = { setup: setup('magic', 'magic'), points: magicPoints, each: 13 }
    const killed = killInTurn('writes', heavy).then(() => killInTurn('sessions', steady))
    await Promise.all([killed, killInTurn('magic', magic)])
  },
  wills: dataDir => killInTurn('wills', { setup: { dataDir, cast: ['wills'] }, points: willPoints, each: 5 }),
  sources: dataDir =>
    killInTurn('sources', { setup: { dataDir, cast: ['household'] }, points: sourcePoints, each: 3 }),
  cuts: async dataDir => {
    await breakInTurn({ dataDir, cast: ['heavy'] }, [cutConnections(6_000, 20)])
  },
  power: losePower,
  disk: async dataDir => {
    const setup = { dataDir, cast: ['heavy'] } as const
    await breakInTurn(setup, [failedSync(), killedInFailedSync])
    await breakInTurn(setup, failedWrites, 5)
  },
  pauses: async dataDir => {
    // Servers side by side, since a pause is waiting.
    const servers = Array.from({ length: 5 }, (_, place) => {
      const setup = { dataDir: join(dataDir, `${place}`), cast: ['steady'], deadline: 30_000 } as const
      return breakInTurn(setup, pauseFaults, 10)
    })
    const found = (await Promise.all(servers)).flat()
    const givenUp = found.filter(({ notes }) => notes.some(note => note.includes('store_timeout'))).length
    report.line(
      givenUp > 0,
      `${found.length} pauses, in ${givenUp} of them writes were given up and sent again`,
    )
  },
  histories: killHistories,
}

await withDirectory(async directory => {
  for (const name of chosen(Object.keys(scenarios), values.only)) {
    await mkdir(join(directory, name))
    await scenarios[name]?.(join(directory, name))
  }
})
process.exitCode = report.broken === 0 ? 0 : 1
