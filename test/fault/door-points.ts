import { once } from 'node:events'
import { ClassicLevel, type OpenOptions } from 'classic-level'
import { wayOf, writeNamesIn } from '../rig/writes.ts'
import {
  acksIn,
  die,
  dieWithin,
  type Operation,
  releasesIn,
  watchBatches,
  watchRead,
  watchSent,
} from './watched.ts'

/** Arms a point. @param after commits, acks or wills before it, or for `during reopen` milliseconds */
type Arm = (after: number) => void

/** Where a write is lost or doubled if a door or the store is careless. */
export const doorPoints: Record<string, Arm> = {
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
  'during commit': after => {
    /** Of the last commit, milliseconds. */
    let lastTook = 1
    watchDueBatches(after, async (write, due) => {
      const started = performance.now()
      const writing = write()
      if (due) dieWithin(Math.random() * lastTook, writing, `of the commit of ${due}`)
      await writing
      lastTook = performance.now() - started
    })
  },
  'after commit': after => {
    watchDueBatches(after, async (write, due) => {
      await write()
      if (due) die(`committed and not acked: ${due}`)
    })
  },
  'QoS 2 before commit': after => {
    watchDueBatches(after, async (write, due, names) => {
      if (due && names.some(name => wayOf(name) === 'QoS 2'))
        die(`received and not committed: ${names.join(' ')}`)
      await write()
    })
  },
  'QoS 1 before PUBACK': after => dieBeforeSending('PUBACK', after),
  'QoS 2 before PUBREC': after => dieBeforeSending('PUBREC', after),
  'QoS 2 before PUBREL': after => {
    let releases = 0
    watchRead(releasesIn, () => {
      if (++releases > after) die('PUBREL has arrived and is not handed on')
    })
  },
  'QoS 2 before PUBCOMP': after => dieBeforeSending('PUBCOMP', after),
  'before the commit of a will, in a shutdown': after => dieAtWill('before', true, after),
  'after the commit of a will, in a shutdown': after => dieAtWill('after', true, after),
  'before the commit of a will, after its grace': after => dieAtWill('before', false, after),
  'after the commit of a will, after its grace': after => dieAtWill('after', false, after),
}

/** What a broken server does, with which the harness is tested. */
export const defects: Record<string, Arm> = {
  /** Acknowledges what is not written yet. */
  'early ack': after => {
    watchDueBatches(after, async (write, due) => {
      if (!due) return await write()
      setTimeout(() => die(`acked and not written: ${due}`), 100)
    })
  },
  /** Does not keep the packet ids of QoS 2 over a crash. */
  'forgotten packet ids': after => {
    watchBatches({ isDropped: operation => isOfPacketId(operation), write: (_, write) => write() })
    dieBeforeSending('PUBREC', after)
  },
  /** Keeps wills after they were written. */
  'kept wills': after => {
    const isDropped = ({ key, value }: Operation) => value === undefined && key.startsWith('omqtt-wills/')
    watchBatches({ isDropped, write: (_, write) => write() })
    dieAtWill('after', false, after)
  },
}

function isOfPacketId({ key }: Operation): boolean {
  return key.startsWith('omqtt-in-flight/')
}

/**
 * @param write has to do the writing. It gets which batches are due, in words: those after `after` commits that hold
 * more than one write of the load.
 */
function watchDueBatches(
  after: number,
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
function dieAtWill(when: 'before' | 'after', isInShutdown: boolean, after: number): void {
  let wills = 0
  watchBatches({
    write: async (operations, write) => {
      const names = namesIn(operations).filter(name => name.startsWith('w'))
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

function dieBeforeSending(kind: 'PUBACK' | 'PUBREC' | 'PUBCOMP', after: number): void {
  let sent = 0
  watchSent(acksIn(kind), 'before', count => {
    if (sent > after) die(`${count} times ${kind} about to be sent, after ${sent}`)
    sent += count
  })
}
