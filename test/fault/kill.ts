import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { Fault, Rounds } from '../rig/rounds.ts'
import { isAtQos, type PlannedWrite, type Sizes } from '../rig/writes.ts'
import { type LeftWrite, leftToApply } from './left-to-apply.ts'
import { levelLogFile, readLevelLog } from './level-log.ts'
import { Strace } from './strace.ts'

/** What shows whether a point was reached. */
interface Evidence {
  /** What the process wrote before it died. */
  readonly proof: string
  /** Writes that were neither acked nor refused, and are stored whole. */
  readonly kept: readonly PlannedWrite[]
  /** Writes that had got PUBREC and no PUBCOMP. */
  readonly released: number
  readonly left: readonly LeftWrite[]
  /** Of those, acked ones. */
  readonly waiting: number
}

/** Where a server is killed under load, and those that are started after it. */
export interface Course {
  /** A point of kill-points.ts, or one of `killRunning`. Default: that of its name. */
  readonly first?: string
  /** Where those after it are killed, armed from their starts on. */
  readonly next?: readonly string[]
  /** Whether clients come to those. */
  readonly isVisited?: boolean
  /** Commits, acks or wills before it, of which there are fewer than `most`; milliseconds for `during reopen`. */
  readonly least?: number
  readonly most: number
  /** Whether magic writes that take several commits are needed. */
  readonly hasParts?: boolean
  /** Of the writes of the load. Default: as it has them. */
  readonly sizes?: Sizes
  readonly isSeen?: (evidence: Evidence) => boolean
}

type Courses = Readonly<Record<string, Course>>

const random = 'random moment'
const commits = { least: 10, most: 50 }
const isReleased = ({ released }: Evidence) => released > 0
const isKeptAt = (qos: 1 | 2) => (evidence: Evidence) => evidence.kept.some(({ way }) => isAtQos(qos, way))

/** Where a write is lost or doubled if a door or the store is careless. */
export const killPoints: Courses = {
  [random]: { most: 0 },
  'after commit': { ...commits, isSeen: ({ kept }) => kept.length > 0 },
  'during commit': commits,
  // A group that LevelDB's log takes in one piece cannot be torn.
  'torn write': { most: 0, sizes: 'any' },
  'during reopen': { first: random, next: ['during reopen'], most: 10 },
  'QoS 1 before PUBACK': { ...commits, isSeen: isKeptAt(1) },
  'QoS 2 before commit': {
    ...commits,
    isSeen: ({ kept, proof }) => !kept.some(({ name }) => proof.split(' ').includes(name)),
  },
  'QoS 2 before PUBREC': { ...commits, isSeen: isKeptAt(2) },
  /** PUBREC was sent, and PUBREL has arrived and is not read. */
  'QoS 2 before PUBREL': { ...commits, isSeen: isReleased },
  'QoS 2 before PUBCOMP': { ...commits, isSeen: isReleased },
  // What is sent again is interrupted, too.
  'during commit, on its return': onReturn('during commit', 10),
  'QoS 2 before PUBREC, on its return': onReturn('QoS 2 before PUBREC', 10),
}

/** The same for the messages of a source, which are small, and relayed when they are stored. */
export const { 'torn write': _, ...sourcePoints } = killPoints

/** Where a message to a persistent session is lost if the MQTT door is careless. */
export const sessionPoints: Courses = {
  [random]: { most: 0, sizes: 'mostly small' },
  'after commit': { most: 20 },
  'PUBLISH sent to a session': { most: 20 },
  'PUBACK of a session arrived': { most: 20 },
  'while a session is read': { most: 0 },
  'before the cursor of a session is saved': { most: 4 },
  'after the cursor of a session is saved': { most: 4 },
  'PUBLISH sent to a session, on its return': onReturn('PUBLISH sent to a session', 100),
}

/** Where a magic record is lost, or applied twice, if the retained-state handler is careless. */
export const magicPoints: Courses = {
  [random]: { most: 0 },
  'magic write committed, not told': {
    most: 40,
    isSeen: ({ left, proof }) =>
      left.some(({ writeNumber }) => proof.includes(`"writeNumber":${writeNumber}}`)),
  },
  'magic write taken, not applied': { most: 40, isSeen: ({ waiting }) => waiting > 0 },
  'state not committed': { most: 40, isSeen: isLeft },
  'during the commit of a state': { most: 40 },
  'state committed, not told': { most: 40 },
  'some time after the commit of a state has failed': { most: 40 },
  'state removed': { most: 3 },
  'between two queued writes': { most: 40, isSeen: isLeft },
  'between two parts of a write': { most: 3, hasParts: true, isSeen: isLeft },
  /** A process is killed that has taken some and applied none, and so are those after it, while there is something to apply. */
  'in replays': {
    first: 'magic write taken, not applied',
    next: [
      ...['state not committed', 'during the commit of a state', 'state not committed'],
      ...['during the commit of a state', 'state committed, not told'],
    ],
    most: 40,
  },
}

/** There is still something to apply to the things of the proof. */
function isLeft({ proof, left }: Evidence): boolean {
  const things = new Set(left.map(({ thingId }) => thingId))
  return [...proof.matchAll(/"([a-z2-7]{16})"/g)].some(([, thingId = '']) => things.has(thingId))
}

/**
 * How the process ends in which clients with a will are connected. In a shutdown: the clients are lost, SIGTERM arrives when their
 * wills are to be committed, and then SIGKILL. After its grace: the next process is killed when it commits the wills.
 */
export const willPoints: Courses = {
  [random]: { most: 0 },
  shutdown: { most: 0 },
  'before the commit of a will, in a shutdown': { most: 4 },
  'after the commit of a will, in a shutdown': { most: 4 },
  'before the commit of a will, after its grace': onReturn('before the commit of a will, after its grace', 4),
  'after the commit of a will, after its grace': onReturn('after the commit of a will, after its grace', 4),
}

/** What a broken server does, see kill-points.ts; it is killed, too. */
export const defects = {
  'early ack': commits,
  'forgotten packet ids': commits,
  'forgotten log': { most: 20 },
  'forgotten marks': { most: 40 },
  'forgotten magic writes': { most: 40 },
  'forgotten announcements': { most: 40 },
  'kept wills': onReturn('kept wills', 4),
} as const satisfies Courses

function onReturn(point: string, most: number): Course {
  return { first: random, next: [point], isVisited: true, most }
}

/** In which a point is to be reached, milliseconds. */
const reachedWithin = 30_000

/** A server is killed at a point under load, and started again. */
export function killAt(point: string, course: Course): Fault {
  const {
    first = point,
    next = [],
    isVisited = false,
    least = 0,
    most,
    hasParts = false,
    sizes,
    isSeen,
  } = course
  const after = () => least + Math.random() * (most - least)
  return {
    name: point,
    expected: /^no answer$/,
    prepare: ({ magic, writers }) => {
      if (magic) magic.hasParts = hasParts
      for (const each of writers) each.sizes = sizes ?? each.setup.sizes
    },
    async happen(rounds) {
      const { service, writers, testators, ledgers } = rounds
      const { dataDir } = service
      const returning = testators?.nodeEnds(Date.now(), { inOrder: true })
      const proofs = [await killRunning(rounds, first, Math.floor(after()))]
      const released = writers.flatMap(({ devices }) => devices.flatMap(device => device.released)).length
      const left = rounds.magic ? await leftToApply(dataDir) : []
      const violations = await rounds.inspect()
      for (const at of next) {
        if (rounds.magic && (await leftToApply(dataDir)).length === 0) break
        // It may be gone before it is ready. What is left to apply may be little.
        const server = await service.launch(at, rounds.magic ? 0 : after()).catch(() => undefined)
        if (server && isVisited) service.admit(server)
        const overdue = setTimeout(() => server?.kill(), reachedWithin)
        await server?.exited
        clearTimeout(overdue)
        proofs.push(await service.proof())
        violations.push(...(await rounds.inspect()))
      }
      violations.push(...(await rounds.startAgain()))
      await returning
      const acked = new Set(ledgers.flatMap(ledger => ledger.withOutcome(['acked', 'completed'])).map(nameOf))
      const waiting = left.filter(({ name: write }) => write !== undefined && acked.has(write)).length
      const kept = writers.flatMap(each => each.kept)
      // Of the last that was to be killed.
      const proof = next.length > 0 ? proofs.slice(1).findLast(each => each !== undefined) : proofs[0]
      const isReached = proof !== undefined && isSeen?.({ proof, kept, released, left, waiting }) !== false
      const counts = [`${released} with PUBREC only`, `${kept.length} kept that were not acked`]
      return {
        ...{ violations, overdue: [] },
        notes: [
          ...(writers.length > 0 ? counts : []),
          ...(rounds.magic ? [`${waiting} known to wait`] : []),
          (isReached ? proof : 'not reached').slice(0, 80),
        ],
        proof: isReached ? proof : undefined,
        kills: proofs.filter(each => each !== undefined).length,
      }
    },
  }
}

function nameOf({ name }: PlannedWrite): string {
  return name
}

/** Resolves when the server is gone. @returns what shows that it was at the point; undefined if it was not */
async function killRunning(
  { service, testators }: Rounds,
  point: string,
  after: number,
): Promise<string | undefined> {
  const server = service.node(0)
  const overdue = setTimeout(() => server.kill(), reachedWithin)
  if (point === random || point === 'shutdown') {
    await delay(20 + Math.random() * 600)
    if (point === 'shutdown') server.process.kill('SIGTERM')
    // A shutdown takes some 10 ms where nothing else runs.
    await delay(point === 'shutdown' ? Math.random() * 20 : 0)
    await server.kill()
  } else if (point === 'torn write') {
    const path = await levelLogFile(service.dataDir)
    // Counted by strace for each thread of the pool apart.
    const inject = `inject=write:signal=SIGKILL:when=${10 + Math.floor(Math.random() * 40)}`
    const options = ['-P', path, '-e', 'trace=write', '-e', inject]
    const strace = await Strace.attach(Number(server.process.pid), options)
    await Promise.all([server.exited, strace.ended()])
  } else {
    await service.order(point, after)
    if (point.endsWith('in a shutdown')) await testators?.loseConnections()
    await server.exited
  }
  clearTimeout(overdue)
  if (point === random || point === 'shutdown') return 'killed from outside'
  if (point !== 'torn write') return await service.proof()
  const { isTorn } = readLevelLog(await readFile(await levelLogFile(service.dataDir)))
  return isTorn ? 'the log ends within a record' : undefined
}
