import { describe, expect, it } from 'vitest'
import { FairQueue } from '../../../src/core/async/fair-queue.ts'

/** Work that says when it begins and ends when it is let go. */
function workOf(queue: FairQueue) {
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const run = (name: string, piece: number) =>
    queue.run(name, async () => {
      begun.push(`${name}${piece}`)
      await new Promise<void>(resolve => ends.set(`${name}${piece}`, resolve))
    })
  return { begun, run, end: (piece: string) => ends.get(piece)?.() }
}

describe('a fair queue', () => {
  it('has one piece of each who asks under way, in turn', async () => {
    const { begun, run, end } = workOf(new FairQueue(1))
    const all = [run('a', 1), run('a', 2), run('a', 3), run('b', 1)]
    for (const piece of ['a1', 'a2', 'b1', 'a3']) {
      expect(begun.at(-1)).toBe(piece)
      end(piece)
      await new Promise(resolve => setImmediate(resolve))
    }
    await Promise.all(all)
  })

  it('has no more under way than may be, and gives one who asks alone all of that', async () => {
    const { begun, run, end } = workOf(new FairQueue(2))
    const all = [run('a', 1), run('a', 2), run('a', 3), run('b', 1), run('c', 1)]
    expect(begun).toEqual(['a1', 'a2'])
    for (const [ended, next] of [
      ['a2', 'a3'],
      ['a1', 'b1'],
      ['b1', 'c1'],
    ] as const) {
      end(ended)
      await new Promise(resolve => setImmediate(resolve))
      expect(begun.at(-1)).toBe(next)
    }
    for (const piece of ['a3', 'c1']) end(piece)
    await Promise.all(all)
    const more = [run('a', 4), run('a', 5)]
    expect(begun.slice(-2)).toEqual(['a4', 'a5'])
    for (const piece of ['a4', 'a5']) end(piece)
    await Promise.all(more)
  })

  it('goes on behind a piece that fails, and gives the items of a stream one by one', async () => {
    const queue = new FairQueue(1)
    const failed = queue.run('a', () => Promise.reject(new Error('no')))
    await expect(failed).rejects.toThrow('no')
    async function* items() {
      yield 1
      yield 2
    }
    const found: number[] = []
    for await (const item of queue.stream('a', items())) {
      // Nothing is under way while it is held.
      found.push(item, await queue.run('a', async () => 10 * item))
    }
    expect(found).toEqual([1, 10, 2, 20])
  })
})
