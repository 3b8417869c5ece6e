import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { readSlices } from '../../../src/core/async/slices.ts'

/** Longer than a slice, milliseconds. */
const long = 6

function work(milliseconds: number): void {
  const begin = performance.now()
  while (performance.now() - begin < milliseconds);
}

/** A reader that works so long between two looks at the clock. */
async function read(milliseconds: number, onEnd: () => void): Promise<void> {
  await readSlices.pause()
  work(milliseconds)
  onEnd()
}

/** Turns of the event loop until so many readers that wait for a slice are done, and how many of them were done in each. */
async function turnsOf(readers: number, milliseconds: number): Promise<readonly number[]> {
  await readSlices.pause()
  work(long)
  const turns: number[] = []
  let done = 0
  const all = Array.from({ length: readers }, () => read(milliseconds, () => done++))
  while (done < readers) {
    const before = done
    await nextTurn()
    turns.push(done - before)
  }
  await Promise.all(all)
  return turns
}

describe('the slices of reads', () => {
  it('are one in each turn of the event loop, however many readers there are', async () => {
    expect(Math.max(...(await turnsOf(4, long)))).toBe(1)
  })

  it('are used up by those who wait, one after another', async () => {
    expect((await turnsOf(100, 0)).length).toBeLessThan(50)
  })
})
