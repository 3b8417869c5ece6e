import { once } from 'node:events'
import { readFileSync, writeSync } from 'node:fs'
import { ClassicLevel, type OpenOptions } from 'classic-level'
import { isAtQos, wayOf, writeNamesIn } from '../rig/writes.ts'
import {
  acksIn,
  die,
  dieWithin,
  holdReads,
  type Operation,
  publishesIn,
  releasesIn,
  watchBatches,
  watchRead,
  watchSent,
} from './watched.ts'

/**
 * Loaded into the server before its own code (`node --import`): kills it, as `kill -9` does, at a named point, which it
 * first proves to have reached. It takes hold of public methods of the database and of sockets, so that production code
 * has no fail points.
 *
 * FAULT_POINT: one of the points, or of the defects, with which the harness is tested.
 * FAULT_AFTER: commits, acks or wills before it, or for `during reopen` milliseconds.
 * FAULT_PROOF: file that is written just before the kill.
 * FAULT_ORDER: file with point and after as JSON, read when SIGUSR2 arrives; `armed: <point>` in stderr is the answer.
 */
const { FAULT_POINT, FAULT_AFTER, FAULT_ORDER } = process.env

/** Arms a point. @param after commits, acks, wills, states … before it, or for `during reopen` milliseconds */
type Arm = (after: number) => void

/** What a batch of the database holds of one kind, in words for the proof. */
type Find = (operations: readonly Operation[]) => readonly string[]

interface Death {
  readonly when: 'before' | 'during' | 'after'
  readonly find: Find
  /** What is counted: those that a batch holds (default), the batches that hold some, or all batches. */
  readonly counts?: 'each' | 'batches' | 'all batches'
  /** What is done before. */
  readonly prepare?: () => Promise<unknown>
  /** A defect: what is left out of every batch. */
  readonly isDropped?: (operation: Operation) => boolean
}

/** Dies at a batch that holds some of this, once more than `after` were counted. */
function atBatch({ when, find, counts = 'each', prepare, isDropped = () => false }: Death): Arm {
  return after => {
    let seen = 0
    /** Of the last such commit, milliseconds. */
    let lastTook = 1
    watchBatches({
      isDropped,
      write: async (operations, write) => {
        const found = find(operations)
        if (counts === 'each') seen += found.length
        else if (counts === 'all batches' || found.length > 0) seen++
        const isDue = found.length > 0 && seen > after
        if (isDue) await prepare?.()
        if (isDue && when === 'before') die(`not committed: ${found.join(' ')}`)
        const started = performance.now()
        const writing = write()
        if (isDue && when === 'during')
          dieWithin(Math.random() * lastTook, writing, `of the commit of ${found.join(' ')}`)
        await writing
        if (found.length > 0) lastTook = performance.now() - started
        if (isDue && when === 'after') die(`committed, and not reported: ${found.join(' ')}`)
      },
    })
  }
}

const namesIn: Find = operations => [...writeNamesIn(operations.map(({ value = '' }) => value).join('\n'))]
/** Those of a group of more than one. */
const groupIn: Find = operations => {
  const names = namesIn(operations)
  return names.length > 1 ? names : []
}
const groupWithQos2: Find = operations => {
  const names = groupIn(operations)
  return names.some(name => isAtQos(2, wayOf(name))) ? names : []
}
const willsIn: Find = operations => namesIn(operations).filter(name => name.startsWith('w'))
const group = { find: groupIn, counts: 'all batches' } as const

/** SIGTERM arrives in the moment in which a commit begins. */
async function shutDown(): Promise<void> {
  const isReceived = once(process, 'SIGTERM')
  process.kill(process.pid, 'SIGTERM')
  await isReceived
}

function beforeSending(kind: 'PUBACK' | 'PUBREC' | 'PUBCOMP'): Arm {
  return after => {
    let sent = 0
    watchSent(acksIn(kind), 'before', count => {
      if (sent > after) die(`${count} times ${kind} about to be sent, after ${sent}`)
      sent += count
    })
  }
}

/** Where a write is lost or doubled if a door or the store is careless. */
const doorPoints: Readonly<Record<string, Arm>> = {
  'during reopen': after => {
    const open = ClassicLevel.prototype.open
    ClassicLevel.prototype.open = async function (this: ClassicLevel, options: OpenOptions = {}) {
      const opening = open.call(this, options)
      dieWithin(after, opening, 'of opening')
      await opening
      // The database is open, and nobody knows yet.
      die('opened, and not yet reported')
    }
  },
  'during commit': atBatch({ ...group, when: 'during' }),
  'after commit': atBatch({ ...group, when: 'after' }),
  'QoS 2 before commit': atBatch({ when: 'before', find: groupWithQos2, counts: 'all batches' }),
  'QoS 1 before PUBACK': beforeSending('PUBACK'),
  'QoS 2 before PUBREC': beforeSending('PUBREC'),
  'QoS 2 before PUBREL': after => {
    let releases = 0
    watchRead(releasesIn, () => {
      if (++releases > after) die('PUBREL has arrived and is not handed on')
    })
  },
  'QoS 2 before PUBCOMP': beforeSending('PUBCOMP'),
  'before the commit of a will, in a shutdown': atBatch({ when: 'before', find: willsIn, prepare: shutDown }),
  'after the commit of a will, in a shutdown': atBatch({ when: 'after', find: willsIn, prepare: shutDown }),
  'before the commit of a will, after its grace': atBatch({ when: 'before', find: willsIn }),
  'after the commit of a will, after its grace': atBatch({ when: 'after', find: willsIn }),
}

/** How far a thing is applied, as it is put with its states. */
interface Mark {
  readonly thingId: string
  readonly writeNumber: number
  readonly records?: number
}

const logEntry = /^l/
const markName = /^omagic\/applied\/(.+)$/

/** Writes with magic records, as the commit log keeps them until they are applied. */
function loggedIn({ key, value }: Operation): Pick<Mark, 'thingId' | 'writeNumber'>[] {
  if (!logEntry.test(key) || value === undefined) return []
  const end = value.indexOf('\0')
  const { records } = JSON.parse(value.slice(end + 1)) as { records: { key: string }[] }
  if (!records.some(record => record.key.startsWith('$'))) return []
  return [{ thingId: value.slice(0, end), writeNumber: Buffer.from(key, 'latin1').readUIntBE(1, 6) }]
}

function marksIn(operations: readonly Operation[]): Mark[] {
  return operations.flatMap(({ key, value }) => {
    const [, thingId] = markName.exec(key) ?? []
    if (thingId === undefined || value === undefined) return []
    return [{ thingId, ...(JSON.parse(value) as Omit<Mark, 'thingId'>) }]
  })
}

const inWords = (items: readonly unknown[]) => items.map(item => JSON.stringify(item))
const magicWrites: Find = operations => inWords(operations.flatMap(loggedIn))
const states: Find = operations => inWords(marksIn(operations))
const parts: Find = operations => inWords(marksIn(operations).filter(({ records }) => records !== undefined))
const keysLike =
  (pattern: RegExp): Find =>
  operations =>
    operations.map(({ key }) => key).filter(key => pattern.test(key))
const state = { find: states, counts: 'batches' } as const

/** From a failure of the store until the handler has tried again, milliseconds. */
const longestRecovery = 2_500

/** Where a magic record is lost, or applied twice, if the retained-state handler is careless. */
const magicPoints: Readonly<Record<string, Arm>> = {
  'magic write committed, not told': atBatch({ when: 'after', find: magicWrites, counts: 'batches' }),
  'magic write taken, not applied': after => {
    let batches = 0
    let isHeld = false
    holdReads('s', () => {
      isHeld = true
    })
    watchBatches({
      write: async (operations, write) => {
        await write()
        // The acks of one batch leave before the next one is written.
        if (isHeld && magicWrites(operations).length > 0 && ++batches > 2 + after / 4)
          die(`${batches} commits of magic writes since the handler took the first`)
      },
    })
  },
  'state not committed': atBatch({ ...state, when: 'before' }),
  'during the commit of a state': atBatch({ ...state, when: 'during' }),
  'state committed, not told': atBatch({ ...state, when: 'after' }),
  'some time after the commit of a state has failed': after => {
    let batches = 0
    watchBatches({
      write: async (operations, write) => {
        const found = states(operations)
        if (found.length === 0 || ++batches !== Math.floor(after) + 1) return await write()
        setTimeout(() => die(`after the failure of ${found.join(' ')}`), longestRecovery * Math.random())
        // As a disk that fails: some of it may be there.
        if (Math.random() < 0.5) await write()
        throw new Error('EIO')
      },
    })
  },
  'state removed': after => {
    let removals = 0
    watchBatches({
      write: async (operations, write) => {
        // DELETE is answered before the next commit.
        if (removals > after) die(`${removals} states are removed, and nothing came after the last`)
        await write()
        removals += operations.filter(({ key, value }) => key.startsWith('s') && value === undefined).length
      },
    })
  },
  'between two queued writes': after => {
    const newest = new Map<string, number>()
    let count = 0
    watchBatches({
      write: async (operations, write) => {
        await write()
        const marks = marksIn(operations)
        for (const { thingId, writeNumber } of operations.flatMap(loggedIn)) newest.set(thingId, writeNumber)
        count += marks.length
        const isWaiting = ({ thingId, writeNumber }: Mark) => (newest.get(thingId) ?? 0) > writeNumber
        if (count > after && marks.some(isWaiting)) die(`more is queued than ${JSON.stringify(marks)}`)
      },
    })
  },
  'between two parts of a write': atBatch({ when: 'after', find: parts }),
}

/** Longer than it takes until sessions are saved that were used, milliseconds. */
const longerThanSaving = 1_200

/** The sessions whose cursors a batch moves on, counted from the second time that they are saved. */
function cursors(): Find {
  /** How far sessions had acknowledged when they were saved last. */
  const acked = new Map<string, number>()
  return operations =>
    operations.flatMap(({ key, value }) => {
      if (!key.startsWith('omqtt-sessions/') || value === undefined) return []
      const { writeNumber } = (JSON.parse(value) as { acked: { writeNumber: number } }).acked
      const before = acked.get(key)
      acked.set(key, writeNumber)
      return before === undefined || writeNumber === before ? [] : [`${key} ${before} to ${writeNumber}`]
    })
}

/** Where a message to a persistent session is lost if the MQTT door is careless. */
const sessionPoints: Readonly<Record<string, Arm>> = {
  'PUBLISH sent to a session': after => {
    let sent = 0
    watchSent(publishesIn, 'behind', count => {
      sent += count
      if (sent > after) die(`${count} messages sent, after ${sent - count}`)
    })
  },
  'PUBACK of a session arrived': after => {
    let arrived = 0
    watchRead(acksIn('PUBACK'), count => {
      arrived += count
      if (arrived > after)
        die(`${count} PUBACKs have arrived and are not handed on, after ${arrived - count}`)
    })
  },
  'while a session is read': () => {
    let reads = 0
    holdReads('omqtt-sessions/', () => {
      if (reads++ === 0) setTimeout(() => die(`${reads} sessions are being read`), longerThanSaving)
    })
  },
  'before the cursor of a session is saved': atBatch({ when: 'before', find: cursors() }),
  'after the cursor of a session is saved': atBatch({ when: 'after', find: cursors() }),
}

/** What a broken server does, with which the harness is tested. */
const defects: Readonly<Record<string, Arm>> = {
  /** Acknowledges what is not written yet. */
  'early ack': after => {
    let batches = 0
    watchBatches({
      write: async (operations, write) => {
        const names = groupIn(operations)
        if (++batches <= after || names.length === 0) return await write()
        setTimeout(() => die(`acked and not written: ${names.join(' ')}`), 100)
      },
    })
  },
  /** Does not keep the packet ids of QoS 2 over a crash. */
  'forgotten packet ids': after => {
    const isDropped = ({ key }: Operation) => key.startsWith('omqtt-in-flight/')
    watchBatches({ isDropped, write: (_, write) => write() })
    beforeSending('PUBREC')(after)
  },
  /** Keeps wills after they were written. */
  'kept wills': atBatch({
    ...{ when: 'after', find: willsIn },
    isDropped: ({ key, value }) => value === undefined && key.startsWith('omqtt-wills/'),
  }),
  /** Does not keep what it has applied over a crash. */
  'forgotten marks': atBatch({
    ...{ when: 'after', find: keysLike(/^s/), counts: 'batches' },
    isDropped: ({ key }) => key.startsWith('omagic/applied'),
  }),
  /** Does not keep what it has to apply over a crash. */
  'forgotten magic writes': atBatch({
    ...{ when: 'before', find: states, counts: 'batches' },
    isDropped: operation => loggedIn(operation).length > 0,
  }),
  /** Does not keep what is to be delivered to sessions over a crash. */
  'forgotten announcements': atBatch({
    ...{ when: 'after', find: keysLike(/^s.*\$count$/s), counts: 'batches' },
    isDropped: operation => logEntry.test(operation.key) && loggedIn(operation).length === 0,
  }),
  /** Does not keep what sessions may miss. */
  'forgotten log': atBatch({
    ...{ when: 'after', find: keysLike(/^r/), counts: 'batches' },
    isDropped: ({ key }) => logEntry.test(key),
  }),
}

const all: Readonly<Record<string, Arm>> = { ...doorPoints, ...magicPoints, ...sessionPoints, ...defects }

if (FAULT_POINT !== undefined) all[FAULT_POINT]?.(Number(FAULT_AFTER))
if (FAULT_ORDER !== undefined) {
  process.on('SIGUSR2', () => {
    const { point, after } = JSON.parse(readFileSync(FAULT_ORDER, 'utf8')) as { point: string; after: number }
    all[point]?.(after)
    writeSync(2, `armed: ${point}\n`)
  })
}
