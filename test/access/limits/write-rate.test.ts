import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ThingRates } from '../../../src/access/limits/write-rate.ts'
import type { Commit } from '../../../src/core/ports.ts'

const writesPerSecond = 100
const recordsPerSecond = 1_000
/** Writes that are free when nothing was written before: those of 5 s, and the one that overdraws. */
const burst = 5 * writesPerSecond + 1
const thingId = 'thing'
const body = Buffer.from('{}')

let rates: ThingRates
let met: string[]
/** How far the clock is ahead of the timers, milliseconds. */
let ahead: number
beforeEach(() => {
  vi.useFakeTimers()
  met = []
  ahead = 0
  rates = new ThingRates({
    writesPerSecond,
    recordsPerSecond,
    onLimit: limit => met.push(limit),
    now: () => performance.now() + ahead,
  })
})
afterEach(() => {
  rates.drain()
  vi.useRealTimers()
})

type Door = 'http' | 'mqtt'

function enter(door: Door, id = thingId, size = body) {
  return rates.enter({ thingId: id, door, body: size })
}

/** What is told of a write of so many records. */
function commit(records: number, isElsewhere: boolean, id = thingId): Commit {
  const record = { key: 'temperature', datetime: 1, value: '1', place: 0, explicit: false }
  return {
    thingId: id,
    writeNumber: 1,
    receivedAt: Date.now(),
    records: Array.from({ length: records }, () => record),
    latest: [],
    stored: true,
    broadcast: true,
    ...(isElsewhere && { isElsewhere }),
  }
}

function use(writes: number, door: Door = 'http'): void {
  for (let write = 0; write < writes; write++) expect(enter(door)).toBeUndefined()
}

/** The error of a write that is refused at once. */
function refusal(door: Door): unknown {
  try {
    void enter(door)
  } catch (error) {
    return error
  }
  return undefined
}

/** Waits of writes over MQTT, and the milliseconds from now at which each was over. */
function waits(count: number): { readonly over: number[]; readonly turns: Promise<void>[] } {
  const begin = performance.now()
  const over: number[] = []
  const turns = Array.from({ length: count }, async (_, place) => {
    await enter('mqtt')
    over[place] = performance.now() - begin
  })
  return { over, turns }
}

describe('ThingRates', () => {
  it('enter() lets the burst through at once, and over HTTP refuses what comes behind it', () => {
    use(burst)
    expect(refusal('http')).toMatchObject({ reason: 'write_rate_exceeded', retryAfter: 1 })
    expect(met).toEqual(['write_rate_exceeded'])
    vi.advanceTimersByTime(10)
    use(1)
    expect(refusal('http')).toBeDefined()
    vi.advanceTimersByTime(1_000)
    use(100)
    expect(refusal('http')).toBeDefined()
  })

  it('enter() does not let a thing save up more than its burst', () => {
    use(1)
    rates.charge(thingId, 1)
    vi.advanceTimersByTime(3_600_000)
    rates.charge(thingId, 4_990)
    use(burst)
    expect(refusal('http')).toBeDefined()
  })

  it('enter() is not paid by a write that is refused', () => {
    use(burst)
    for (let write = 0; write < 100; write++) expect(refusal('http')).toBeDefined()
    vi.advanceTimersByTime(10)
    use(1)
  })

  it('enter() counts both doors together, and each thing for itself', () => {
    use(burst, 'mqtt')
    expect(refusal('http')).toBeDefined()
    expect(enter('http', 'other')).toBeUndefined()
  })

  it('charge() may overdraw, and says after how many seconds the thing can write again', () => {
    use(1)
    rates.charge(thingId, 5_000 + 7_500)
    expect(refusal('http')).toMatchObject({ reason: 'record_rate_exceeded', retryAfter: 8 })
    vi.advanceTimersByTime(7_499)
    expect(refusal('http')).toMatchObject({ reason: 'record_rate_exceeded', retryAfter: 1 })
    vi.advanceTimersByTime(1)
    use(1)
    expect(met).toEqual(['record_rate_exceeded', 'record_rate_exceeded'])
  })

  it('enter() has writes over MQTT wait their turn, in the order in which they came', async () => {
    use(burst)
    const { over, turns } = waits(100)
    await vi.advanceTimersByTimeAsync(500)
    expect(over).toHaveLength(50)
    await vi.advanceTimersByTimeAsync(500)
    await Promise.all(turns)
    expect(over).toEqual(over.toSorted((a, b) => a - b))
    expect(over[99]).toBe(1_000)
    expect(met).toEqual(Array.from({ length: 100 }, () => 'write_rate_exceeded'))
  })

  it('enter() lets no write overtake those that wait, even when it would not have to', async () => {
    use(burst)
    const order: string[] = []
    const first = enter('mqtt')?.then(() => order.push('waited'))
    // Its time has come, its timer has not.
    ahead = 60
    const second = enter('http')?.then(() => order.push('came later'))
    expect(second).toBeDefined()
    await vi.advanceTimersByTimeAsync(100)
    await Promise.all([first, second])
    expect(order).toEqual(['waited', 'came later'])
    expect(met).toHaveLength(1)
  })

  it('enter() refuses over MQTT what would wait for more than 30 s, and what comes right behind it', async () => {
    use(burst)
    rates.charge(thingId, 5_000 + 30_000)
    const held = enter('mqtt')
    expect(held).toBeDefined()
    rates.charge(thingId, 1)
    expect(refusal('mqtt')).toMatchObject({ reason: 'record_rate_exceeded', retryAfter: 31 })
    await vi.advanceTimersByTimeAsync(500)
    expect(refusal('mqtt')).toBeDefined()
    await vi.advanceTimersByTimeAsync(1_500)
    expect(enter('mqtt')).toBeDefined()
    await vi.advanceTimersByTimeAsync(30_000)
    await held
  })

  it('enter() holds no more of a thing in memory than 8 MiB', async () => {
    use(burst)
    const large = Buffer.alloc(1024 * 1024)
    const turns = Array.from({ length: 7 }, () => enter('mqtt', thingId, large))
    expect(() => enter('mqtt', thingId, large)).toThrow()
    expect(() => enter('mqtt')).toThrow()
    await vi.advanceTimersByTimeAsync(10_000)
    await Promise.all(turns)
    use(burst, 'mqtt')
    for (let write = 0; write < 7; write++) expect(enter('mqtt', thingId, large)).toBeDefined()
  })

  it('chargeElsewhere() counts what a thing writes through other nodes, and nothing else that they commit', () => {
    for (let write = 0; write < burst - 1; write++) rates.chargeElsewhere(commit(1, true), Date.now())
    for (let state = 0; state < 100; state++) rates.chargeElsewhere(commit(0, true), Date.now())
    for (let own = 0; own < 100; own++) rates.chargeElsewhere(commit(1, false), Date.now())
    use(1)
    expect(refusal('http')).toMatchObject({ reason: 'write_rate_exceeded' })
    expect(enter('http', 'other')).toBeUndefined()
    vi.advanceTimersByTime(5_000)
    rates.chargeElsewhere(commit(5_001, true), Date.now())
    expect(refusal('http')).toMatchObject({ reason: 'record_rate_exceeded' })
  })

  it('chargeElsewhere() takes for paid what was due before it was heard of', () => {
    const first = commit(1, true)
    vi.advanceTimersByTime(10_000)
    for (let write = 0; write < burst; write++) rates.chargeElsewhere(first, Date.now())
    use(burst)
  })

  it('chargeElsewhere() asks the clock of receipt times, whatever the machine shows', () => {
    const first = commit(1, true)
    vi.setSystemTime(first.receivedAt + 3_600_000)
    for (let write = 0; write < burst; write++) rates.chargeElsewhere(first, first.receivedAt)
    expect(refusal('http')).toMatchObject({ reason: 'write_rate_exceeded' })
  })

  it('chargeElsewhere() of things that never come to this node leaves nothing for long', () => {
    for (let second = 0; second < 10; second++) {
      for (let thing = 0; thing < 1_000; thing++)
        rates.chargeElsewhere(commit(1, true, `${second} ${thing}`), Date.now())
      vi.advanceTimersByTime(1_000)
    }
    expect(rates.size).toBeLessThan(2_100)
  })

  it('drain() lets go on what waits, and nothing waits until it is over', async () => {
    use(burst)
    const { over, turns } = waits(10)
    const done = rates.drain()
    await Promise.all(turns)
    expect(over).toEqual(Array.from({ length: 10 }, () => 0))
    expect(vi.getTimerCount()).toBe(0)
    expect(enter('mqtt')).toBeUndefined()
    expect(refusal('http')).toBeDefined()
    done()
    expect(enter('mqtt')).toBeDefined()
  })

  it('revoke() refuses what waits of a thing that is removed, and of no other', async () => {
    use(burst)
    for (let write = 0; write < burst; write++) void enter('mqtt', 'other')
    const turns = [enter('mqtt'), enter('mqtt')]
    let isOver = false
    const other = enter('mqtt', 'other')?.then(() => {
      isOver = true
    })
    rates.revoke({ principals: new Set([`thing.${thingId}`, 'session.other']) })
    const outcomes = await Promise.allSettled(turns)
    expect(outcomes).toMatchObject(turns.map(() => ({ reason: { reason: 'unknown_thing' } })))
    expect(isOver).toBe(false)
    await vi.advanceTimersByTimeAsync(1_000)
    await other
  })

  it('mayNote() is true once a second of each thing', () => {
    expect([rates.mayNote(thingId), rates.mayNote(thingId), rates.mayNote('other')]).toEqual([
      true,
      false,
      true,
    ])
    vi.advanceTimersByTime(999)
    expect(rates.mayNote(thingId)).toBe(false)
    vi.advanceTimersByTime(1)
    expect(rates.mayNote(thingId)).toBe(true)
  })

  it('enter() remembers only things that owe something, however many there are', () => {
    for (let second = 0; second < 10; second++) {
      for (let thing = 0; thing < 1_000; thing++) void enter('http', `${second} ${thing}`)
      vi.advanceTimersByTime(1_000)
    }
    expect(rates.size).toBeLessThan(2_100)
  })
})
