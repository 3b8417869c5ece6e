import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Commit } from '../../src/core/ports.ts'
import { Sequencer } from '../../src/live/sequencer.ts'

function commit(writeNumber: number): Commit {
  return { thingId: 'a', writeNumber, receivedAt: 0, records: [], latest: [], stored: true, broadcast: true }
}

/** Lets everything that is due be done. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise(resolve => setImmediate(resolve))
}

/** @returns does a millisecond's work by the clock of the process, which stands until then however busy the machine is */
function startWork(): () => void {
  let now = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
  onTestFinished(() => clock.mockRestore())
  return () => void now++
}

function start(writeNumber = 0) {
  const seen: (number | string)[] = []
  const sequencer: Sequencer = new Sequencer(writeNumber, ({ writeNumber }) => {
    seen.push(writeNumber)
    return true
  })
  const mark = (writeNumber: number, name: string) => sequencer.at(writeNumber, () => seen.push(name))
  return { sequencer, seen, mark }
}

describe('take()', () => {
  it('hands nothing on before it has returned, nor before what waits for the same event', async () => {
    const { sequencer, seen } = start()
    sequencer.take(commit(1))
    expect(seen).toEqual([])
    await Promise.resolve()
    expect(seen).toEqual([])
    await settle()
    expect(seen).toEqual([1])
  })

  it('hands on in the order of the calls, each once', async () => {
    const { sequencer, seen } = start(4)
    for (const number of [5, 6, 8]) sequencer.take(commit(number))
    await settle()
    for (const number of [9, 12]) sequencer.take(commit(number))
    await settle()
    expect(seen).toEqual([5, 6, 8, 9, 12])
    expect(sequencer.writeNumber).toBe(12)
  })

  it.each([
    { isTold: true, commits: 120 },
    { isTold: false, commits: 640 },
  ])('lets the event loop turn between two slices of a long queue: $isTold', async ({ isTold, commits }) => {
    const work = startWork()
    let turns = 0
    let isOver = false
    const count = () => {
      turns++
      if (!isOver) setImmediate(count)
    }
    setImmediate(count)
    const seen: number[] = []
    await new Promise<void>(resolve => {
      const sequencer = new Sequencer(0, ({ writeNumber }) => {
        work()
        seen.push(writeNumber)
        if (writeNumber === commits) resolve()
        return isTold
      })
      for (let number = 1; number <= commits; number++) sequencer.take(commit(number))
    })
    isOver = true
    expect(seen).toEqual(Array.from({ length: commits }, (_, index) => index + 1))
    expect(turns).toBeGreaterThan(4)
  })

  it('keeps up with more than it usually hands on in one go', async () => {
    const work = startWork()
    const sequencer = new Sequencer(0, () => {
      work()
      return true
    })
    let taken = 0
    for (let turn = 0; turn < 200; turn++) {
      for (let each = 0; each < 8; each++) sequencer.take(commit(++taken))
      await new Promise(resolve => setImmediate(resolve))
    }
    expect(taken - sequencer.writeNumber).toBeLessThan(100)
  })
})

describe('at()', () => {
  it('is reached behind the writes up to its number, and before all that are behind it', async () => {
    const { sequencer, seen, mark } = start()
    for (const number of [1, 2, 3]) sequencer.take(commit(number))
    mark(2, 'at 2')
    mark(3, 'at 3')
    mark(0, 'at 0')
    sequencer.take(commit(4))
    await settle()
    expect(seen).toEqual(['at 0', 1, 2, 'at 2', 3, 'at 3', 4])
  })

  it('is reached for a number that no write has, and for one that is not there yet when the next one comes', async () => {
    const { sequencer, seen, mark } = start(10)
    mark(10, 'at 10')
    await settle()
    sequencer.take(commit(12))
    mark(11, 'at 11')
    await settle()
    mark(12, 'at 12')
    sequencer.take(commit(13))
    await settle()
    expect(seen).toEqual(['at 10', 'at 11', 12, 'at 12', 13])
  })

  it('keeps the order of several at one place, and sees the write number there', async () => {
    const { sequencer, seen, mark } = start()
    sequencer.take(commit(1))
    sequencer.take(commit(2))
    mark(1, 'first')
    mark(1, 'second')
    sequencer.at(1, () => seen.push(`write ${sequencer.writeNumber}`))
    await settle()
    expect(seen).toEqual([1, 'first', 'second', 'write 1', 2])
  })

  it('may be called from within', async () => {
    const { sequencer, seen, mark } = start()
    sequencer.take(commit(1))
    sequencer.at(1, () => {
      seen.push('outer')
      mark(1, 'inner')
    })
    sequencer.take(commit(2))
    await settle()
    expect(seen).toEqual([1, 'outer', 'inner', 2])
  })

  it('throws for a place that was passed', async () => {
    const { sequencer, mark } = start()
    sequencer.take(commit(1))
    sequencer.take(commit(2))
    await settle()
    expect(() => mark(1, 'too late')).toThrow(RangeError)
    expect(() => mark(2, 'in time')).not.toThrow()
  })
})

describe('atEnd()', () => {
  it('is reached behind what was taken before, and before what is taken after', async () => {
    const { sequencer, seen, mark } = start(3)
    sequencer.atEnd(() => seen.push(`end at ${sequencer.writeNumber}`))
    sequencer.take(commit(5))
    sequencer.atEnd(() => seen.push('end'))
    sequencer.take(commit(9))
    mark(7, 'at 7')
    await settle()
    expect(seen).toEqual(['end at 3', 5, 'end', 'at 7', 9])
  })
})

const mebibyte = 1024 * 1024

function large(writeNumber: number): Commit {
  const record = { key: 'k', datetime: 0, value: 'x'.repeat(mebibyte), place: 0, explicit: false }
  return { ...commit(writeNumber), records: [record] }
}

describe('commits of other nodes', () => {
  const elsewhere = (writeNumber: number): Commit => ({ ...large(writeNumber), isElsewhere: true })

  it('take no room from those of this one', async () => {
    const { sequencer, seen } = start()
    for (let number = 1; number <= 200; number++) sequencer.take(elsewhere(number))
    expect(sequencer.room()).toBeUndefined()
    for (let number = 201; number <= 270; number++) sequencer.take(large(number))
    await sequencer.room()
    await settle()
    expect(seen).toHaveLength(270)
    expect(sequencer.room()).toBeUndefined()
  })

  it('are dropped with all that waits when they are more than 256 MiB, and that is said in their place', async () => {
    const seen: unknown[] = []
    const sequencer: Sequencer = new Sequencer(
      0,
      ({ writeNumber }) => seen.push(writeNumber) > 0,
      () => seen.push('dropped'),
    )
    for (let number = 1; number <= 70; number++) sequencer.take(large(number))
    const room = sequencer.room()
    sequencer.at(50, () => seen.push('at 50'))
    for (let number = 71; number <= 330; number++) sequencer.take(elsewhere(number))
    await room
    await settle()
    expect(seen).toEqual(['at 50', 'dropped', 327, 328, 329, 330])
    expect(sequencer.writeNumber).toBe(330)
  })
})

describe('room()', () => {
  it('is there until more than 64 MiB wait, and again when half of them are handed on', async () => {
    const waiting: number[] = []
    const sequencer: Sequencer = new Sequencer(0, ({ writeNumber }) => {
      const end = performance.now() + 2
      while (performance.now() < end);
      if (sequencer.room()) waiting.push(writeNumber)
      return true
    })
    for (let number = 1; number <= 63; number++) sequencer.take(large(number))
    expect(sequencer.room()).toBeUndefined()
    for (let number = 64; number <= 70; number++) sequencer.take(large(number))
    const room = sequencer.room()
    expect(room).toBeInstanceOf(Promise)
    expect(sequencer.room()).toBe(room)
    await room
    expect(sequencer.room()).toBeUndefined()
    expect(waiting.length).toBeGreaterThan(30)
    expect(waiting.length).toBeLessThan(70)
    await expect.poll(() => sequencer.writeNumber).toBe(70)
  })

  it('is given when it is stopped', async () => {
    const { sequencer } = start()
    for (let number = 1; number <= 70; number++) sequencer.take(large(number))
    const room = sequencer.room()
    expect(room).toBeDefined()
    sequencer.stop()
    await room
  })
})

describe('stop()', () => {
  it('hands nothing on any more', async () => {
    const { sequencer, seen, mark } = start()
    sequencer.take(commit(1))
    await settle()
    sequencer.take(commit(2))
    mark(2, 'at 2')
    sequencer.stop()
    sequencer.take(commit(3))
    await settle()
    expect(seen).toEqual([1])
  })

  it('leaves nothing behind that keeps a process alive', async () => {
    const source = `
      import { Sequencer } from '${new URL('../../src/live/sequencer.ts', import.meta.url)}'
      const sequencer = new Sequencer(0, () => true)
      sequencer.take(${JSON.stringify(commit(1))})
      sequencer.stop()
    `
    const args = ['--import', import.meta.resolve('tsx'), '--input-type=module', '--eval', source]
    const child = spawn(process.execPath, args, { stdio: 'inherit' })
    const deadline = setTimeout(() => child.kill('SIGKILL'), 20_000)
    const [code] = await once(child, 'exit')
    clearTimeout(deadline)
    expect(code).toBe(0)
  })
})
