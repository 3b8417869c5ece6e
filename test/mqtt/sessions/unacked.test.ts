import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isBehind, type MessagePosition, Unacked } from '../../../src/mqtt/sessions/unacked.ts'

const at = (writeNumber: number, place = 0): MessagePosition => ({ writeNumber, place })

/** Packet ids from `first` on, as a connection gives them. */
function idsFrom(first: number) {
  let next = first - 1
  return {
    nextMessageId: () => {
      next = (next % 65_535) + 1
      return next
    },
  }
}

describe('isBehind()', () => {
  it('compares by write number, then by place', () => {
    expect(isBehind(at(2, 0), at(1, 9))).toBe(true)
    expect(isBehind(at(1, 2), at(1, 1))).toBe(true)
    expect(isBehind(at(1, 1), at(1, 1))).toBe(false)
    expect(isBehind(at(1, 9), at(2, 0))).toBe(false)
  })
})

describe('take()', () => {
  it('gives the ids of the connection, one after another, less those in use', () => {
    const unacked = new Unacked(at(0), [
      { messageId: 3, position: at(1), isAcked: false },
      { messageId: 4, position: at(2), isAcked: false },
    ])
    const ids = idsFrom(2)
    expect([3, 4, 5].map(number => unacked.take(at(number), ids))).toEqual([2, 5, 6])
    expect(unacked.take(undefined, ids)).toBe(7)
    unacked.ack(7)
    expect(unacked.take(undefined, idsFrom(7))).toBe(7)
  })

  it('gives none while all of them are in use', () => {
    const unacked = new Unacked(at(0))
    const ids = idsFrom(1)
    for (let number = 1; number <= 65_535; number++) {
      unacked.take(number % 2 ? at(number) : undefined, ids)
    }
    expect(unacked.take(at(65_536), ids)).toBeUndefined()
    expect(unacked.take(undefined, ids)).toBeUndefined()
    expect(unacked.ack(40_000)).toBe(true)
    expect(unacked.take(at(65_536), ids)).toBe(40_000)
    expect(unacked.take(undefined, ids)).toBeUndefined()
  })
})

describe('ack()', () => {
  it('says whether the packet id was in use', () => {
    const unacked = new Unacked(at(0))
    unacked.take(at(1), idsFrom(10))
    unacked.take(undefined, idsFrom(20))
    expect([9, 10, 10, 20, 20].map(id => unacked.ack(id))).toEqual([false, true, false, true, false])
  })

  it('moves `acked` as far as everything before is acknowledged', () => {
    const unacked = new Unacked(at(5))
    const ids = idsFrom(1)
    for (const position of [at(6), at(6, 1), at(8), at(9)]) unacked.take(position, ids)
    unacked.ack(2)
    expect(unacked.acked).toEqual(at(5))
    unacked.ack(1)
    expect(unacked.acked).toEqual(at(6, 1))
    unacked.ack(4)
    expect(unacked.acked).toEqual(at(6, 1))
    unacked.ack(3)
    expect(unacked.acked).toEqual(at(9))
  })
})

describe('owed()', () => {
  it('is what is behind `acked` and not acknowledged, with the packet id of what was sent', () => {
    const unacked = new Unacked(at(5))
    const ids = idsFrom(1)
    for (const position of [at(6), at(7), at(8)]) unacked.take(position, ids)
    unacked.ack(2)
    const asked = [at(4), at(5), at(6), at(6, 1), at(7), at(8), at(9)]
    expect(asked.map(position => unacked.owed(position))).toEqual([
      undefined,
      undefined,
      { messageId: 1 },
      { messageId: undefined },
      undefined,
      { messageId: 3 },
      { messageId: undefined },
    ])
  })
})

describe('keepOnly()', () => {
  it('leaves owed what it is given, and frees all other ids', () => {
    const unacked = new Unacked(at(0))
    const ids = idsFrom(1)
    for (const position of [at(1), at(2), undefined, at(3), at(4)]) unacked.take(position, ids)
    unacked.keepOnly(new Set([2, 5]))
    expect([1, 2, 3, 4].map(number => unacked.owed(at(number))?.messageId)).toEqual([
      undefined,
      2,
      undefined,
      5,
    ])
    expect(unacked.acked).toEqual(at(1))
    expect([1, 3, 4].map(id => unacked.ack(id))).toEqual([false, false, false])
    unacked.keepOnly(new Set())
    expect(unacked.acked).toEqual(at(4))
  })
})

describe('what is sent, acknowledged in any order, and found again after a restart', () => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.constant({ is: 'send' as const }) },
    { weight: 1, arbitrary: fc.constant({ is: 'send live only' as const }) },
    { weight: 4, arbitrary: fc.record({ is: fc.constant('ack' as const), which: fc.nat(20) }) },
    { weight: 1, arbitrary: fc.constant({ is: 'restart' as const }) },
    { weight: 1, arbitrary: fc.constant({ is: 'return' as const }) },
  )

  it('is owed as long as it is not acknowledged, under one packet id that nothing else has', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), steps => {
        let unacked = new Unacked(at(0, 7))
        const ids = idsFrom(65_500)
        /** By write number, what was sent; undefined once it is acknowledged. */
        const model = new Map<number, number | undefined>()
        const liveOnly = new Set<number>()
        let writeNumber = 0
        for (const step of steps) {
          if (step.is === 'send') {
            const id = unacked.take(at(++writeNumber), ids) ?? 0
            expect([...model.values(), ...liveOnly]).not.toContain(id)
            model.set(writeNumber, id)
          } else if (step.is === 'send live only') {
            liveOnly.add(unacked.take(undefined, ids) ?? 0)
          } else if (step.is === 'ack') {
            const used = [...model.values(), ...liveOnly].filter(id => id !== undefined)
            const id = used[step.which % used.length]
            if (id === undefined) continue
            expect(unacked.ack(id)).toBe(true)
            liveOnly.delete(id)
            for (const [number, sent] of model) if (sent === id) model.set(number, undefined)
          } else if (step.is === 'restart') {
            unacked = new Unacked(unacked.acked, JSON.parse(JSON.stringify(unacked.sent)))
            liveOnly.clear()
          } else {
            unacked.keepOnly(new Set([...model.values()].flatMap(id => id ?? [])))
            liveOnly.clear()
          }
          const owed = [...model.keys()].map(number => unacked.owed(at(number))?.messageId)
          expect(owed).toEqual([...model.values()])
          expect(unacked.owed(at(writeNumber + 1))).toEqual({ messageId: undefined })
        }
      }),
    )
  })
})
