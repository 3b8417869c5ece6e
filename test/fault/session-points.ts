import {
  acksIn,
  die,
  holdReads,
  type Operation,
  publishesIn,
  watchBatches,
  watchRead,
  watchSent,
} from './watched.ts'

const sessionName = /^omqtt-sessions\//

/** Longer than it takes until sessions are saved that were used, milliseconds. */
const longerThanSaving = 1_200

/** Where a message to a persistent session is lost if the MQTT door is careless. */
export const sessionPoints: Record<string, (after: number) => void> = {
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
  'before the cursor of a session is saved': after => {
    watchCursors(after, async (_, cursor) => die(`not saved: ${cursor}`))
  },
  'after the cursor of a session is saved': after => {
    watchCursors(after, async (write, cursor) => {
      await write()
      die(`saved: ${cursor}`)
    })
  },
}

/** What a broken server does. */
export const sessionDefects: Record<string, (after: number) => void> = {
  /** Does not keep what sessions may miss. */
  'forgotten log': after => {
    let commits = 0
    watchBatches({
      isDropped: ({ key }) => key.startsWith('l'),
      write: async (operations, write) => {
        await write()
        if (operations.some(({ key }) => key.startsWith('r')) && ++commits > after) {
          die(`${commits} commits without their entries in the log`)
        }
      },
    })
  },
}

/** @param write has to do the writing of a batch that moves the cursor of a session on, behind `after` of them */
function watchCursors(
  after: number,
  write: (write: () => Promise<void>, cursor: string) => Promise<void>,
): void {
  const acked = new Map<string, number>()
  let moves = 0
  watchBatches({
    write: async (operations, writeBatch) => {
      const moved = operations.flatMap(operation => movedCursor(operation, acked))
      moves += moved.length
      if (moved.length > 0 && moves > after) await write(writeBatch, moved.join(' '))
      else await writeBatch()
    },
  })
}

/** @param acked how far sessions had acknowledged when they were saved last */
function movedCursor({ key, value }: Operation, acked: Map<string, number>): string[] {
  if (!sessionName.test(key) || value === undefined) return []
  const { writeNumber } = (JSON.parse(value) as { acked: { writeNumber: number } }).acked
  const before = acked.get(key)
  acked.set(key, writeNumber)
  return before === undefined || writeNumber === before ? [] : [`${key} ${before} to ${writeNumber}`]
}
