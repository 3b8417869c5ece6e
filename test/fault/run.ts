import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { withDirectory } from '../helpers/with-server.ts'
import { historiesAtOnce, runHistories } from '../store/level/histories/run-histories.ts'
import { cutConnections } from './cut.ts'
import { failedSync, failedWrite, type SingleFault, singleFaults } from './failing-disk.ts'
import { type Kill, KillRun } from './kill.ts'
import { type KillPoint, killPoints } from './kill-point.ts'
import { killApplying, killSessions } from './live-kills.ts'
import { PauseRun, pauses } from './pause.ts'
import { type Way, wayOf } from './planned-write.ts'
import { delayedSync, traceAcks } from './power-loss.ts'
import { Report } from './report.ts'
import { WillRun, willEnds } from './wills.ts'

/**
 * `npm run fault`: kill -9, loss of power, failing and late disks, pauses, in full. Prints what it found; ends with status 1 if a
 * promise broke. `--only <scenario>` runs one of them.
 */
const target = {
  connections: 32,
  devices: 8,
  kills: 30,
  killsPerPoint: 5,
  acks: 20_000,
  /** Of each way. */
  tracedAcks: 1_000,
  /** Milliseconds. */
  syncDelay: 300,
  /** Of each way, in each of the other scenarios. */
  writes: 200,
  roundsPerFault: 5,
  willRounds: 5,
  magicKills: 200,
  sessionKills: 30,
  pauseRounds: 100,
  /** Servers side by side, since a pause is waiting. */
  pausedServers: 5,
  /** Of each way. */
  cutWrites: 2_000,
  /** Milliseconds. */
  cutSyncDelay: 20,
  histories: 10_000,
  /** Side by side. */
  stores: 2,
}
/** Rounds in which a point was not reached are checked and not counted; so many of them are too many. */
const maximumRounds = 100
const ways: readonly Way[] = ['HTTP', 'QoS 1', 'QoS 2']

const report = new Report()

async function killUnderLoad(dataDir: string): Promise<void> {
  const { connections, devices } = target
  const run = new KillRun({ dataDir, connections, devices })
  const kills: Kill[] = []
  const proven = (point: KillPoint) =>
    kills.filter(kill => kill.point === point && kill.proof !== undefined).length
  const isEnough = () => run.ledger.acks() >= target.acks && kills.length >= target.kills
  const next = () =>
    killPoints.find(point => proven(point) < target.killsPerPoint) ??
    (isEnough() ? undefined : 'random moment')
  for (let point = next(); point && kills.length < maximumRounds; point = next()) {
    const kill = await run.kill(point)
    kills.push(kill)
    const { acks, uncertain, kept, released, proof = 'not reached' } = kill
    const counts = `${acks} acks, ${uncertain} uncertain of which ${kept} kept, ${released} with PUBREC only`
    report.violations(`kill ${kills.length}, ${point}: ${counts}; ${proof.slice(0, 80)}`, kill.violations)
  }
  report.violations('at the end, with everything sent again that may be', await run.finalCheck())
  report.table(kills)
  for (const point of killPoints) {
    report.line(proven(point) >= target.killsPerPoint, `${point}: reached ${proven(point)} times`)
  }
  const refused = run.ledger.withOutcome('refused').length
  report.line(refused === 0, `writes refused while nothing was wrong: ${refused}`)
  const counts = ways.map(way => `${run.ledger.acks(way)} over ${way}`)
  report.line(isEnough(), `${run.ledger.acks()} acks in ${kills.length} kills: ${counts.join(', ')}`)
}

async function endWithWills(dataDir: string): Promise<void> {
  const run = new WillRun(dataDir)
  for (const end of willEnds) {
    for (let round = 1; round <= target.willRounds; round++) {
      const what = `wills, ${end}, round ${round}`
      const { proof = 'not reached', due, violations, left } = await run.run(end)
      report.line(proof !== 'not reached', `${what}: ${proof}`)
      report.violations(`${what}: ${due} due so far`, violations)
      report.line(left.length === 0, `${what}: still kept: ${left.length}`)
    }
  }
}

async function cutUnderLoad(dataDir: string): Promise<void> {
  const { cuts, violations } = await cutConnections(
    { dataDir, writes: target.cutWrites },
    target.cutSyncDelay,
  )
  report.violations(`${cuts} connections cut and back at once`, violations)
}

async function losePower(dataDir: string): Promise<void> {
  const { covered, completed, violations } = await traceAcks({
    dataDir: join(dataDir, 'traced'),
    writes: target.tracedAcks,
  })
  for (const violation of violations.slice(0, 10)) console.log(violation)
  report.line(violations.length === 0, `acks before their fdatasync, or out of order: ${violations.length}`)
  for (const way of ways) {
    const count = covered.filter(name => wayOf(name) === way).length
    report.line(count === target.tracedAcks, `acks over ${way} after their fdatasync: ${count}`)
  }
  const text = `PUBCOMPs after the fdatasync of the removal of their packet id: ${completed.length}`
  report.line(completed.length === target.tracedAcks, text)
  const { syncDelay, writes } = target
  const took = await delayedSync({ dataDir: join(dataDir, 'delayed'), writes }, syncDelay)
  const earliest = Math.min(...took)
  report.line(
    took.length === writes * ways.length && earliest >= syncDelay,
    `fsync held back ${syncDelay} ms: ${took.length} acks, the earliest after ${earliest.toFixed(0)} ms`,
  )
}

const storeAway = ['503 store_unavailable', '503 store_timeout', 'CONNACK 0', 'CONNACK 3', 'CONNACK missing']

async function failDisk(dataDir: string): Promise<void> {
  const { writes } = target
  for (const end of ['recover', 'kill'] as const) {
    const what = `EIO from fsync, then ${end}`
    const failed = await failedSync({ dataDir: join(dataDir, end), writes }, end)
    report.answers(what, failed.answers, storeAway)
    const { ackedMeanwhile, unackedMeanwhile, connacks, reads } = failed
    const counts = `acks: ${ackedMeanwhile}, MQTT writes without one: ${unackedMeanwhile}`
    report.line(ackedMeanwhile === 0 && unackedMeanwhile > 0, `${what}: meanwhile: ${counts}`)
    const isRefused = connacks.every(returnCode => returnCode === 3)
    report.line(isRefused, `${what}: CONNACKs meanwhile: ${connacks.join(', ')}`)
    const isExpected = reads.every(status => status === 200 || status === 503)
    report.line(isExpected, `${what}: reads meanwhile: ${reads.join(', ')}`)
    if (end === 'recover') {
      const isWhole = failed.ackedAfter === writes * ways.length
      report.line(isWhole, `${what}: acks when fsync works again: ${failed.ackedAfter}`)
      report.violations(`${what}: afterwards`, failed.recovered)
    }
    report.violations(`${what}: after a restart`, failed.restarted)
  }
  for (const fault of Object.keys(singleFaults) as SingleFault[]) {
    for (let round = 1; round <= target.roundsPerFault; round++) {
      const what = `one ${fault}, round ${round}`
      const failed = await failedWrite({ dataDir: join(dataDir, what), writes }, fault)
      report.line(failed.hasFailed, `${what}: it did happen`)
      const whileShort = fault === 'ENOSPC from write' ? ['503 store_full'] : []
      report.answers(what, failed.answers, ['201', '400 invalid_key', ...whileShort, ...storeAway])
      report.violations(`${what}: afterwards`, failed.recovered)
      report.violations(`${what}: after a restart`, failed.restarted)
    }
  }
}

async function pauseUnderLoad(dataDir: string): Promise<void> {
  const { pauseRounds, pausedServers } = target
  let acks = 0
  let givenUp = 0
  const pauseOne = async (place: number) => {
    const run = new PauseRun(join(dataDir, `${place}`))
    const what = `paused server ${place + 1}`
    try {
      for (let round = 0; round < pauseRounds / pausedServers; round++) {
        const pause = pauses[(round + place) % pauses.length] ?? 'SIGSTOP'
        const { violations, ...counts } = await run.pause(pause)
        acks += counts.acks
        givenUp += counts.givenUp
        const text = `${counts.held} ms; ${counts.acks} acks, ${counts.givenUp} times store_timeout`
        report.list(`${what}, round ${round + 1}, ${pause} for ${text}`, violations)
      }
      report.list(`${what}: at the end`, await run.finish())
    } finally {
      await run.abandon()
    }
  }
  await Promise.all(Array.from({ length: pausedServers }, (_, place) => pauseOne(place)))
  report.line(
    givenUp > 0,
    `${pauseRounds} pauses: ${acks} acks, ${givenUp} writes were given up and sent again`,
  )
}

/** What the records of a store add up to, while it is packed and killed. */
async function killHistories(directory: string): Promise<void> {
  const { histories, stores } = target
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
  await Promise.all(Array.from({ length: stores }, runOne))
  report.line(kills > ran / historiesAtOnce, `${ran} histories, ${kills} kills`)
}

const scenarios: Readonly<Record<string, (directory: string) => Promise<void>>> = {
  kills: async directory => {
    // Two at a time, since much of a life of a server is waiting; the others look at times, and at every call of one.
    const killed = killUnderLoad(join(directory, 'killed')).then(() =>
      killSessions(report, join(directory, 'sessions'), target.sessionKills),
    )
    const applying = killApplying(report, join(directory, 'magic'), target.magicKills)
    await Promise.all([killed, applying])
  },
  wills: directory => endWithWills(join(directory, 'wills')),
  cuts: directory => cutUnderLoad(join(directory, 'cut')),
  power: losePower,
  disk: failDisk,
  pauses: directory => pauseUnderLoad(join(directory, 'paused')),
  histories: killHistories,
}

const { values } = parseArgs({ options: { only: { type: 'string' } } })
const names = Object.keys(scenarios).filter(name => values.only === undefined || name === values.only)
if (names.length === 0) throw new Error(`--only takes one of ${Object.keys(scenarios).join(', ')}`)
await withDirectory(async directory => {
  for (const name of names) await scenarios[name]?.(directory)
})
process.exitCode = report.broken === 0 ? 0 : 1
