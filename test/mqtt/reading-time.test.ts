import { describe, expect, it } from 'vitest'
import { ReadingTime } from '../../src/mqtt/reading-time.ts'

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

  it('lets who is resumed wait again behind the others', async () => {
    let now = 0
    const time = new ReadingTime(() => now)
    const resumed: string[] = []
    const reader = (name: string) => {
      const resume = () => {
        resumed.push(name)
        if (time.isLeft(resume)) now += tooLong
      }
      return resume
    }
    const readers = ['first', 'second', 'third'].map(reader)
    expect(time.isLeft(() => {})).toBe(true)
    now += tooLong
    for (const resume of readers) time.isLeft(resume)

    await nextTurn()
    expect(resumed).toEqual(['first', 'second', 'third'])
    await nextTurn()
    expect(resumed).toEqual(['first', 'second', 'third', 'second', 'third'])
    await nextTurn()
    expect(resumed.slice(5)).toEqual(['third'])
  })
})
