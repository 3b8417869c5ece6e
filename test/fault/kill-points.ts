import { once } from 'node:events'
import { ClassicLevel, type OpenOptions } from 'classic-level'
import { die, dieWithin } from './die.ts'
import { wayOf, writeNamesIn } from './planned-write.ts'
import { type Operation, watchBatches } from './watched-batches.ts'
import { watchReleases, watchSent } from './watched-sockets.ts'

/**
 * Loaded into the server before its own code (`node --import`): kills it, as `kill -9` does, at a named point, which it
 * first proves to have reached. It takes hold of public methods of the database and of sockets, so that production code
 * has no fail points.
 *
 * FAULT_POINT: one of `points`, or of `defects`, with which the harness is tested.
 * FAULT_AFTER: commits, acks or wills before it, or for `during reopen` milliseconds.
 * FAULT_PROOF: file that is written just before the kill.
 */
const { FAULT_POINT: point = '', FAULT_AFTER } = process.env
const after = Number(FAULT_AFTER)

const points: Record<string, () => void> = {
  'during reopen': () => {
    const open = ClassicLevel.prototype.open
    ClassicLevel.prototype.open = async function (this: ClassicLevel, options: OpenOptions = {}) {
      const opening = open.call(this, options)
      dieWithin(after, opening, 'of opening')
      await opening
      // The database is open, and nobody knows yet.
      die('opened, and not yet reported')
    }
  },
  'during commit': () => {
    /** Of the last commit, milliseconds. */
    let lastTook = 1
    watchDueBatches(async (write, due) => {
      const started = performance.now()
      const writing = write()
      if (due) dieWithin(Math.random() * lastTook, writing, `of the commit of ${due}`)
      await writing
      lastTook = performance.now() - started
    })
  },
  'after commit': () => {
    watchDueBatches(async (write, due) => {
      await write()
      if (due) die(`committed and not acked: ${due}`)
    })
  },
  'QoS 2 before commit': () => {
    watchDueBatches(async (write, due, names) => {
      if (due && names.some(name => wayOf(name) === 'QoS 2'))
        die(`received and not committed: ${names.join(' ')}`)
      await write()
    })
  },
  'QoS 1 before PUBACK': () => dieBeforeSending('PUBACK'),
  'QoS 2 before PUBREC': () => dieBeforeSending('PUBREC'),
  'QoS 2 before PUBREL': () => {
    let releases = 0
    watchReleases(() => {
      if (++releases > after) die('PUBREL has arrived and is not handed on')
    })
  },
  'QoS 2 before PUBCOMP': () => dieBeforeSending('PUBCOMP'),
  'before the commit of a will, in a shutdown': () => dieAtWill('before', true),
  'after the commit of a will, in a shutdown': () => dieAtWill('after', true),
  'before the commit of a will, after its grace': () => dieAtWill('before', false),
  'after the commit of a will, after its grace': () => dieAtWill('after', false),
}

const defects: Record<string, () => void> = {
  /** Acknowledges what is not written yet. */
  'early ack': () => {
    watchDueBatches(async (write, due) => {
      if (!due) return await write()
      setTimeout(() => die(`acked and not written: ${due}`), 20)
    })
  },
  /** Does not keep the packet ids of QoS 2 over a crash. */
  'forgotten packet ids': () => {
    watchBatches({ isDropped: operation => isOfPacketId(operation), write: (_, write) => write() })
    dieBeforeSending('PUBREC')
  },
  /** Keeps the packet ids of QoS 2 beyond PUBCOMP. */
  'kept packet ids': () => {
    const isDropped = (operation: Operation) => operation.value === undefined && isOfPacketId(operation)
    watchBatches({ isDropped, write: (_, write) => write() })
    dieBeforeSending('PUBCOMP')
  },
  /** Keeps wills after they were written. */
  'kept wills': () => {
    const isDropped = ({ key, value }: Operation) => value === undefined && key.startsWith('omqtt-wills/')
    watchBatches({ isDropped, write: (_, write) => write() })
    dieAtWill('after', false)
  },
}

function isOfPacketId({ key }: Operation): boolean {
  return key.startsWith('omqtt-in-flight/')
}

/**
 * @param write has to do the writing. It is told which batches are due, in words: those after `after` commits that hold
 * more than one write of the load.
 */
function watchDueBatches(
  write: (write: () => Promise<void>, due: string | undefined, names: readonly string[]) => Promise<void>,
): void {
  let commits = 0
  watchBatches({
    write: (operations, writeBatch) => {
      const names = namesIn(operations)
      const isDue = ++commits > after && names.length > 1
      return write(writeBatch, isDue ? `a group of ${names.length}` : undefined, names)
    },
  })
}

/** @param isInShutdown whether SIGTERM arrives in the moment in which the commit begins */
function dieAtWill(when: 'before' | 'after', isInShutdown: boolean): void {
  let wills = 0
  watchBatches({
    write: async (operations, write) => {
      const names = namesIn(operations)
      wills += names.length
      if (names.length === 0 || wills <= after) return await write()
      if (isInShutdown) {
        const isReceived = once(process, 'SIGTERM')
        process.kill(process.pid, 'SIGTERM')
        await isReceived
      }
      if (when === 'after') await write()
      die(`${when} the commit of ${names.join(' ')}`)
    },
  })
}

function namesIn(operations: readonly Operation[]): string[] {
  return [...writeNamesIn(operations.map(({ value = '' }) => value).join('\n'))]
}

function dieBeforeSending(kind: 'PUBACK' | 'PUBREC' | 'PUBCOMP'): void {
  let sent = 0
  watchSent(kind, count => {
    if (sent > after) die(`${count} times ${kind} about to be sent, after ${sent}`)
    sent += count
  })
}

const arm = points[point] ?? defects[point]
arm?.()
