import { describe, expect, it } from 'vitest'
import { SlowArrival } from '../../../src/mqtt/connection/keep-alive.ts'

const minute = 60_000
const enough = 60 * 1024

describe('isOverdue()', () => {
  it('is true when a minute has passed since the packet was first seen to be begun', () => {
    const arrival = new SlowArrival()
    expect(arrival.isOverdue(0, 1_000)).toBe(false)
    expect(arrival.isOverdue(0, 1_000 + minute - 1)).toBe(false)
    expect(arrival.isOverdue(0, 1_000 + minute)).toBe(true)
  })

  it('gives another minute for each in which 60 KiB have come', () => {
    const arrival = new SlowArrival()
    arrival.isOverdue(7, 0)
    for (let minutes = 1; minutes <= 17; minutes++) {
      expect(arrival.isOverdue(7 + minutes * enough, minutes * minute)).toBe(false)
    }
    expect(arrival.isOverdue(7 + 18 * enough - 1, 18 * minute)).toBe(true)
  })

  it('does not take what came before for what is to come', () => {
    const arrival = new SlowArrival()
    arrival.isOverdue(0, 0)
    arrival.isOverdue(10 * enough, 1)
    expect(arrival.isOverdue(10 * enough, minute)).toBe(false)
    expect(arrival.isOverdue(10 * enough, 2 * minute)).toBe(true)
  })

  it('is false as long as nothing is begun', () => {
    const arrival = new SlowArrival()
    for (let minutes = 0; minutes < 10; minutes++) {
      expect(arrival.isOverdue(undefined, minutes * minute)).toBe(false)
    }
  })

  it.each([
    ['nothing was begun in between', (arrival: SlowArrival) => void arrival.isOverdue(undefined, minute - 1)],
    ['another packet was finished, or was not read, in between', (arrival: SlowArrival) => arrival.restart()],
  ])('counts from the beginning if %s', (_case, change) => {
    const arrival = new SlowArrival()
    arrival.isOverdue(5, 0)
    change(arrival)
    expect(arrival.isOverdue(5, minute)).toBe(false)
    expect(arrival.isOverdue(5, 2 * minute - 1)).toBe(false)
    expect(arrival.isOverdue(5, 2 * minute)).toBe(true)
  })
})
