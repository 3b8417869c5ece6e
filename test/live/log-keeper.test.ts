import { describe, expect, it, onTestFinished } from 'vitest'
import { type Lock, LockLost } from '../../src/core/locks.ts'
import type { Nodes } from '../../src/core/nodes.ts'
import type { Commit } from '../../src/core/ports.ts'
import { type LoggedWrite, LogKeeper, type LogReader } from '../../src/live/log-keeper.ts'
import { createLevelStore } from '../../src/store/level/index.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { openStore } from '../../src/store/open-store.ts'
import { aloneNode } from '../helpers/alone-node.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { newRecordOf } from './commits.ts'

const kinds = {
  'in memory': async () => createMemoryStore(),
  'on LevelDB': async () => createLevelStore({ location: await temporaryDirectory() }),
} as const

async function start(kind: keyof typeof kinds) {
  const store = await openStore(await kinds[kind]())
  const { records, nodes } = store
  const log = new LogKeeper({ records, nodes, isShared: false })
  records.logWhen(write => log.isWanted(write))
  records.onCommit(commit => log.count(commit))
  onTestFinished(async () => {
    await log.close()
    await store.close()
  })
  const write = async (thingId: string, values: readonly string[]) => {
    const appending = values.map(value => {
      const of = { store: true, broadcast: true, answer: {} }
      return records.append({ thingId, records: [newRecordOf('k', value)], ...of })
    })
    await Promise.all(appending)
  }
  return { log, records, write, values: () => valuesIn(log) }
}

async function valuesIn(log: LogKeeper, order: 'asc' | 'desc' = 'asc'): Promise<string[]> {
  const values: string[] = []
  for await (const { records } of log.read({ after: 0, before: Number.POSITIVE_INFINITY, order })) {
    values.push(...records.map(({ value }) => value))
  }
  return values
}

/** Wants what is written of a thing, and needs of it what has one of these values. */
function reader(thingId: string, needed: ReadonlySet<string>): LogReader & { readonly asked: Commit[] } {
  const asked: Commit[] = []
  return {
    asked,
    wants: (write: LoggedWrite) => write.thingId === thingId,
    startTrim: async () => commit => {
      asked.push(commit)
      return commit.records.some(({ value }) => needed.has(value))
    },
  }
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => String(index))

describe.each(Object.keys(kinds) as (keyof typeof kinds)[])('the commit log %s', kind => {
  it('has what a reader wants, from then on, and nothing else', async () => {
    const { log, write, values } = await start(kind)
    await write('a', ['before'])
    expect(await values()).toEqual([])
    log.keepFor(reader('a', new Set()))
    await write('a', ['1'])
    await write('b', ['2'])
    log.keepFor(reader('b', new Set()))
    await write('b', ['3'])
    await write('c', ['4'])
    expect(await values()).toEqual(['1', '3'])
  })

  it('is read in either order, and in part, however many pages that is', async () => {
    const { log, write } = await start(kind)
    log.keepFor(reader('a', new Set()))
    const all = numbers(1_300)
    await write('a', all)
    expect(await valuesIn(log)).toEqual(all)
    expect(await valuesIn(log, 'desc')).toEqual(all.toReversed())
    const some: number[] = []
    for await (const { writeNumber } of log.read({ after: 600, before: 1_200, order: 'desc' }))
      some.push(writeNumber)
    expect(some).toEqual(Array.from({ length: 599 }, (_, index) => 1_199 - index))
  })

  it('is trimmed of what nobody needs; everyone is asked about every commit, newest first', async () => {
    const { log, write, values } = await start(kind)
    const readers = [reader('a', new Set(['1', '7'])), reader('a', new Set(['7', '3']))]
    for (const each of readers) log.keepFor(each)
    await write('a', numbers(10))
    await log.trim()
    expect(await values()).toEqual(['1', '3', '7'])
    for (const { asked } of readers) {
      expect(asked.map(({ records }) => records[0]?.value)).toEqual(numbers(10).toReversed())
    }
    await log.trim()
    expect(await values()).toEqual(['1', '3', '7'])
    expect(readers[0]?.asked).toHaveLength(13)
  })

  it('keeps what is written while it is trimmed', async () => {
    const { log, write, values } = await start(kind)
    let begin = () => {}
    let asked: Promise<void> | undefined
    const begun = new Promise<void>(resolve => {
      begin = resolve
    })
    log.keepFor({
      wants: () => true,
      startTrim: async () => {
        begin()
        await asked
        return () => false
      },
    })
    await write('a', numbers(5))
    let answer = () => {}
    asked = new Promise(resolve => {
      answer = resolve
    })
    const trimming = log.trim()
    await begun
    await write('a', ['while it is trimmed'])
    answer()
    await trimming
    expect(await values()).toEqual(['while it is trimmed'])
  })

  it('is trimmed by itself when it has grown by 10,000 commits, and then by as many as were left', async () => {
    const { log, write, values } = await start(kind)
    let trims = 0
    let trimmed = () => {}
    log.keepFor({
      wants: () => true,
      startTrim: async upTo => {
        trims++
        return ({ writeNumber }) => {
          if (writeNumber === 1) trimmed()
          return writeNumber > upTo - 12_000
        }
      },
    })
    const untilTrimmed = async () => {
      await new Promise<void>(resolve => {
        trimmed = resolve
      })
      // Its end is a page that is empty, and what is removed.
      await values()
    }
    const first = untilTrimmed()
    await write('a', numbers(10_000))
    expect(trims).toBe(0)
    await write('a', numbers(1))
    await first
    const second = untilTrimmed()
    await write('a', numbers(10_001))
    expect(trims).toBe(1)
    await write('a', numbers(1))
    await second
    expect(trims).toBe(2)
    // Of 20,003.
    await expect.poll(async () => (await values()).length).toBe(12_000)
    await write('a', numbers(11_000))
    expect(trims).toBe(2)
  })

  it('is trimmed by itself when it has grown by 4 MiB', async () => {
    const { log, write, values } = await start(kind)
    log.keepFor({ wants: () => true, startTrim: async () => () => false })
    const large = JSON.stringify('x'.repeat(60_000))
    for (let writes = 0; writes < 80; writes++) await write('a', [large])
    await expect.poll(async () => (await values()).length).toBeLessThan(20)
  })

  it('is left as it is by a reader that fails, and trimmed the next time', async () => {
    const { log, write, values } = await start(kind)
    let fails = true
    log.keepFor({
      wants: () => true,
      startTrim: async () => {
        if (fails) throw new Error('of the test')
        return () => false
      },
    })
    await write('a', numbers(3))
    await expect(log.trim()).rejects.toThrow('of the test')
    expect(await values()).toEqual(numbers(3))
    fails = false
    await log.trim()
    expect(await values()).toEqual([])
  })
})

describe('the commit log of a shared store', () => {
  async function startShared(lead: Nodes['lead']) {
    const store = await openStore(createMemoryStore())
    const { records, locks } = store
    let trimmableTo = 0
    const nodes = { lead, logBounds: async () => ({ completeAfter: 0, trimmableTo }) }
    const log = new LogKeeper({ records, nodes, isShared: true })
    // All is logged, whoever wants it.
    records.logWhen(() => true)
    records.onCommit(commit => log.count(commit))
    onTestFinished(async () => {
      await log.close()
      await store.close()
    })
    const write = async (values: readonly string[]) => {
      const of = { thingId: 'a', store: true, broadcast: true, answer: {} }
      await Promise.all(values.map(value => records.append({ ...of, records: [newRecordOf('k', value)] })))
    }
    const setTrimmable = (writeNumber: number) => {
      trimmableTo = writeNumber
    }
    return { log, write, setTrimmable, locks }
  }

  it('is trimmed of what is old enough, and nobody is asked about the rest', async () => {
    const { log, write, setTrimmable } = await startShared(aloneNode().lead)
    const asked = reader('none', new Set(['3']))
    log.keepFor(asked)
    await write(numbers(10))
    await log.trim()
    expect(asked.asked).toEqual([])
    setTrimmable(6)
    await log.trim()
    expect(await valuesIn(log)).toEqual(['3', '6', '7', '8', '9'])
    expect(asked.asked.map(({ writeNumber }) => writeNumber)).toEqual([6, 5, 4, 3, 2, 1])
  })

  it('is trimmed by itself by the node that leads that, as long as it does, whatever is wanted', async () => {
    const stopping = new AbortController()
    let work = async (_stop: AbortSignal, _lock: Lock) => {}
    const { log, write, setTrimmable, locks } = await startShared((task, itsWork) => {
      expect(task).toBe('trim')
      work = itsWork
      return async () => {}
    })
    const large = JSON.stringify('x'.repeat(1024 * 1024))
    setTrimmable(Number.POSITIVE_INFINITY)
    for (let writes = 0; writes < 70; writes++) await write([large])
    expect(await valuesIn(log)).toHaveLength(70)
    const working = work(stopping.signal, await locks.take('task/trim'))
    await write([large])
    await expect.poll(async () => (await valuesIn(log)).length).toBe(0)
    stopping.abort()
    await working
    for (let writes = 0; writes < 70; writes++) await write([large])
    expect(await valuesIn(log)).toHaveLength(70)
  })

  it('is not trimmed any more in the name of a node that has lost that, be it told late', async () => {
    const { log, write, setTrimmable, locks } = await startShared(() => async () => {})
    await write(numbers(10))
    setTrimmable(Number.POSITIVE_INFINITY)
    const lost = await locks.take('task/trim')
    const lock = await locks.take('task/trim')
    await expect(log.trim(undefined, lost)).rejects.toBeInstanceOf(LockLost)
    expect(await valuesIn(log)).toEqual(numbers(10))
    await log.trim(undefined, lock)
    expect(await valuesIn(log)).toEqual([])
  })
})
