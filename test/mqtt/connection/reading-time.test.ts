import { describe, expect, it } from 'vitest'
import { ReadingTime } from '../../../src/mqtt/connection/reading-time.ts'

/** More than may be read in one turn takes. */
const tooLong = 1_000

function nextTurn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}

describe('ReadingTime', () => {
  it('is left for a while in each turn, and then resumes each that asked, once, in the next turn', async () => {
    let now = 0
    const time = new ReadingTime(() => now)
    const resumed: string[] = []
    const first = () => resumed.push('first')
    const second = () => resumed.push('second')
    expect(time.isLeft(first)).toBe(true)
    expect(time.isLeft(first)).toBe(true)
    now += tooLong
    expect(time.isLeft(first)).toBe(false)
    expect(time.isLeft(second)).toBe(false)
    expect(time.isLeft(first)).toBe(false)
    expect(resumed).toEqual([])

    await nextTurn()
    expect(resumed).toEqual(['first', 'second'])
    expect(time.isLeft(first)).toBe(true)
    await nextTurn()
    await nextTurn()
    expect(resumed).toEqual(['first', 'second'])
  })

  it('gives each a turn before it gives one that never has enough another one', async () => {
    let now = 0
    const time = new ReadingTime(() => now)
    const reads: string[] = []
    const reader = (name: string, packets: number) => {
      let left = packets
      const read = () => {
        for (; left > 0 && time.isLeft(read); left--) {
          reads.push(name)
          now += tooLong
        }
      }
      return read
    }
    for (const read of [reader('flood', 5), reader('first', 1), reader('second', 2)]) read()
    expect(reads).toEqual(['flood'])
    for (let turn = 0; turn < 7; turn++) await nextTurn()
    expect(reads).toEqual(['flood', 'flood', 'first', 'second', 'flood', 'second', 'flood', 'flood'])
  })
})
