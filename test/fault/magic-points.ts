import { die, dieWithin, holdReads, type Operation, watchBatches } from './watched.ts'

/** A write with magic records, as the commit log keeps it until it is applied. */
interface LoggedWrite {
  readonly thingId: string
  readonly writeNumber: number
}

/** How far a thing is applied, as it is put with its states. */
interface Mark {
  readonly thingId: string
  readonly writeNumber: number
  readonly records?: number
}

/** What a batch says of magic resources. */
interface MagicBatch {
  readonly logged: readonly LoggedWrite[]
  readonly marks: readonly Mark[]
}

const logEntry = /^l/
const counted = /^s.*\$count$/s
const markName = /^omagic\/applied\/(.+)$/

/** From a failure of the store until the handler has tried again, milliseconds. */
const longestRecovery = 2_500

/** Where a magic record is lost, or applied twice, if the retained-state handler is careless. */
export const magicPoints: Record<string, (after: number) => void> = {
  'magic write committed, not told': after => {
    let batches = 0
    watchMagic(async ({ logged }, write) => {
      await write()
      if (logged.length > 0 && ++batches > after) die(`committed, and not told: ${JSON.stringify(logged)}`)
    })
  },
  'magic write taken, not applied': after => {
    let batches = 0
    let isHeld = false
    holdReads('s', () => {
      isHeld = true
    })
    watchMagic(async ({ logged }, write) => {
      await write()
      // The acks of one batch leave before the next one is written.
      if (isHeld && logged.length > 0 && ++batches > 2 + after / 4) {
        die(`${batches} commits of magic writes since the handler took the first`)
      }
    })
  },
  'state not committed': after => {
    watchStates(after, async (_, marks) => die(`not committed: ${JSON.stringify(marks)}`))
  },
  'during the commit of a state': after => {
    /** Of the last such commit, milliseconds. */
    let lastTook = 1
    watchStates(after, async (write, marks) => {
      const started = performance.now()
      const writing = write()
      dieWithin(Math.random() * lastTook, writing, `of the commit of ${JSON.stringify(marks)}`)
      await writing
      lastTook = performance.now() - started
    })
  },
  'state committed, not told': after => {
    watchStates(after, async (write, marks) => {
      await write()
      die(`committed, and not told: ${JSON.stringify(marks)}`)
    })
  },
  'some time after the commit of a state has failed': after => {
    let hasFailed = false
    watchStates(after, async (write, marks) => {
      if (hasFailed) return await write()
      hasFailed = true
      setTimeout(() => die(`after the failure of ${JSON.stringify(marks)}`), longestRecovery * Math.random())
      // As a disk that fails: some of it may be there.
      if (Math.random() < 0.5) await write()
      throw new Error('EIO')
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
    let states = 0
    watchMagic(async ({ logged, marks }, write) => {
      await write()
      for (const { thingId, writeNumber } of logged) newest.set(thingId, writeNumber)
      states += marks.length
      const isWaiting = ({ thingId, writeNumber }: Mark) => (newest.get(thingId) ?? 0) > writeNumber
      if (states > after && marks.some(isWaiting)) die(`more is queued than ${JSON.stringify(marks)}`)
    })
  },
  'between two parts of a write': after => {
    let parts = 0
    watchMagic(async ({ marks }, write) => {
      await write()
      parts += marks.filter(({ records }) => records !== undefined).length
      if (parts > after) die(`a part is committed: ${JSON.stringify(marks)}`)
    })
  },
}

/** What a broken handler does. */
export const magicDefects: Record<string, (after: number) => void> = {
  /** Does not keep what it has applied over a crash. */
  'forgotten marks': after => {
    watchBatches({
      isDropped: ({ key }) => key.startsWith('omagic/applied'),
      write: async (operations, write) => {
        await write()
        if (operations.some(({ key }) => key.startsWith('s')) && --after < 0) die('a state without its mark')
      },
    })
  },
  /** Does not keep what it has to apply over a crash. */
  'forgotten magic writes': after => {
    watchBatches({
      isDropped: operation => loggedIn(operation).length > 0,
      write: async (operations, write) => {
        if (marksIn(operations).length > 0 && --after < 0) die('a state that is not kept')
        await write()
      },
    })
  },
  /** Does not keep what is to be told to sessions over a crash. */
  'forgotten announcements': after => {
    watchBatches({
      isDropped: operation => logEntry.test(operation.key) && loggedIn(operation).length === 0,
      write: async (operations, write) => {
        await write()
        if (operations.some(({ key }) => counted.test(key)) && --after < 0)
          die('a count that nobody is told of')
      },
    })
  },
}

/** @param write has to do the writing of the first batch with states behind `after` such batches */
function watchStates(
  after: number,
  write: (write: () => Promise<void>, marks: readonly Mark[]) => Promise<void>,
): void {
  let batches = 0
  watchMagic(async ({ marks }, writeBatch) => {
    if (marks.length > 0 && ++batches > after) await write(writeBatch, marks)
    else await writeBatch()
  })
}

function watchMagic(write: (batch: MagicBatch, write: () => Promise<void>) => Promise<void>): void {
  watchBatches({
    write: (operations, writeBatch) => {
      return write({ logged: operations.flatMap(loggedIn), marks: marksIn(operations) }, writeBatch)
    },
  })
}

function loggedIn({ key, value }: Operation): LoggedWrite[] {
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
