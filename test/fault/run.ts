import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Answers, failedSync, failedWrite, type SingleFault, singleFaults } from './failing-disk.ts'
import { type Kill, type KillPoint, KillRun, killPoints } from './kill.ts'
import { countViolations, type Violations } from './ledger.ts'
import { delayedSync, traceAcks } from './power-loss.ts'

/** `npm run fault`: kill -9 and loss of power, in full. Prints what it found; ends with status 1 if a promise broke. */
const target = {
  connections: 16,
  killsPerPoint: 5,
  acks: 10_000,
  tracedAcks: 1_000,
  /** Milliseconds. */
  syncDelay: 300,
  /** In each of the other scenarios. */
  writes: 200,
  roundsPerFault: 5,
}
/** Rounds in which a point was not reached are checked and not counted; so many of them are too many. */
const maximumRounds = 100

let broken = 0

function report(ok: boolean, text: string): void {
  if (!ok) broken++
  console.log(`${ok ? 'ok    ' : 'BROKEN'}  ${text}`)
}

function reportViolations(what: string, violations: Violations): void {
  const named = Object.entries(violations)
    .filter(([, names]) => names.length > 0)
    .map(([name, names]) => `${name}: ${names.length} (${names.slice(0, 3).join(', ')})`)
  report(countViolations(violations) === 0, `${what}: ${named.join('; ') || 'everything as promised'}`)
}

async function killUnderLoad(dataDir: string): Promise<void> {
  const run = new KillRun(dataDir, target.connections)
  const kills: Kill[] = []
  const proven = (point: KillPoint) =>
    kills.filter(kill => kill.point === point && kill.proof !== undefined).length
  const ackedSoFar = () => run.ledger.withOutcome('acked').length
  const next = () =>
    killPoints.find(point => proven(point) < target.killsPerPoint) ??
    (ackedSoFar() < target.acks ? 'random moment' : undefined)
  for (let point = next(); point && kills.length < maximumRounds; point = next()) {
    const kill = await run.kill(point)
    kills.push(kill)
    const { acks, uncertain, kept, proof = 'not reached' } = kill
    const counts = `${acks} acks, ${uncertain} uncertain of which ${kept} kept; ${proof}`
    reportViolations(`kill ${kills.length}, ${point}: ${counts}`, kill.violations)
  }
  reportViolations('at the end, with everything sent again that may be', await run.finalCheck())
  console.table(Object.fromEntries(killPoints.map(point => [point, rowOf(kills, point)])))
  for (const point of killPoints) {
    report(proven(point) >= target.killsPerPoint, `${point}: reached ${proven(point)} times`)
  }
  const refused = run.ledger.withOutcome('refused').length
  report(refused === 0, `writes refused while nothing was wrong: ${refused}`)
  report(ackedSoFar() >= target.acks, `${ackedSoFar()} acks in ${kills.length} kills`)
}

function rowOf(all: readonly Kill[], point: KillPoint) {
  const kills = all.filter(kill => kill.point === point)
  const sum = (count: (kill: Kill) => number) => kills.reduce((total, kill) => total + count(kill), 0)
  return {
    kills: kills.length,
    reached: kills.filter(({ proof }) => proof !== undefined).length,
    acks: sum(({ acks }) => acks),
    uncertain: sum(({ uncertain }) => uncertain),
    'of them kept': sum(({ kept }) => kept),
    missing: sum(({ violations }) => violations.missing.length),
    halves: sum(({ violations }) => violations.halves.length),
    repeated: sum(({ violations }) => violations.repeated.length),
    unknown: sum(({ violations }) => violations.unknown.length),
  }
}

async function losePower(dataDir: string): Promise<void> {
  const { covered, violations } = await traceAcks({
    dataDir: join(dataDir, 'traced'),
    writes: target.tracedAcks,
  })
  for (const violation of violations.slice(0, 10)) console.log(violation)
  report(
    violations.length === 0 && covered.length === target.tracedAcks,
    `acks that followed their fdatasync: ${covered.length} of ${target.tracedAcks}`,
  )
  const { syncDelay, writes } = target
  const took = await delayedSync({ dataDir: join(dataDir, 'delayed'), writes }, syncDelay)
  const earliest = Math.min(...took)
  report(
    took.length === writes && earliest >= syncDelay,
    `fsync held back ${syncDelay} ms: ${took.length} acks, the earliest after ${earliest.toFixed(0)} ms`,
  )
}

async function failDisk(dataDir: string): Promise<void> {
  const { writes } = target
  for (const end of ['recover', 'kill'] as const) {
    const what = `EIO from fsync, then ${end}`
    const failed = await failedSync({ dataDir: join(dataDir, end), writes }, end)
    reportAnswers(what, failed.answers, ['503 store_unavailable', '503 store_timeout'])
    report(
      failed.reads.every(status => status === 200 || status === 503),
      `${what}: reads meanwhile: ${failed.reads.join(', ')}`,
    )
    if (end === 'recover') {
      report(failed.ackedAfter === writes, `${what}: acks when fsync works again: ${failed.ackedAfter}`)
      reportViolations(`${what}: afterwards`, failed.recovered)
    }
    reportViolations(`${what}: after a restart`, failed.restarted)
  }
  for (const fault of Object.keys(singleFaults) as SingleFault[]) {
    for (let round = 1; round <= target.roundsPerFault; round++) {
      const what = `one ${fault}, round ${round}`
      const failed = await failedWrite({ dataDir: join(dataDir, what), writes }, fault)
      report(failed.hasFailed, `${what}: it did happen`)
      const expected = ['201', '400 invalid_key', '503 store_unavailable', '503 store_timeout']
      reportAnswers(what, failed.answers, expected)
      reportViolations(`${what}: afterwards`, failed.recovered)
      reportViolations(`${what}: after a restart`, failed.restarted)
    }
  }
}

function reportAnswers(what: string, answers: Answers, expected: readonly string[]): void {
  const counts = Object.entries(answers).map(([answer, count]) => `${count} times ${answer}`)
  const isExpected = Object.keys(answers).every(answer => expected.includes(answer))
  report(isExpected, `${what}: answers: ${counts.join(', ')}`)
}

const directory = await mkdtemp(join(tmpdir(), 'thingwire-fault-'))
try {
  await killUnderLoad(join(directory, 'killed'))
  await losePower(directory)
  await failDisk(directory)
} finally {
  await rm(directory, { recursive: true, force: true })
}
process.exitCode = broken === 0 ? 0 : 1
