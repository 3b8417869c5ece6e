import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createThingId } from '../../../src/core/token.ts'
import { LiveWrite } from '../../../src/live/index.ts'
import {
  Interests,
  type Subscription,
  type WantedCopy,
  wantedCopies,
} from '../../../src/mqtt/sessions/interest.ts'

const [a, b] = [createThingId(), createThingId()]

/** Without identifiers there is one copy at most. */
const qosIn = ([copy]: readonly WantedCopy[]) => copy?.qos
const qosOf = (interest: ReturnType<Interests['in']>, key: string) => qosIn(interest.copiesOf(key))
const qosAt = (...args: Parameters<typeof wantedCopies>) => qosIn(wantedCopies(...args))

function subscription(filter: string, qos: 0 | 1 | 2 = 1, from = 0): Subscription {
  return { filter, qos, from }
}

/** How MQTT matches (section 4.7), in plain words. */
function isMatch(filter: string, topic: string): boolean {
  const [filterLevels, topicLevels] = [filter.split('/'), topic.split('/')]
  for (const [place, level] of filterLevels.entries()) {
    if (level === '#') return true
    if (place >= topicLevels.length || (level !== '+' && level !== topicLevels[place])) {
      // `a/#` matches `a`, too.
      return false
    }
  }
  return filterLevels.length === topicLevels.length
}

function isMatchOrParent(filter: string, topic: string): boolean {
  return isMatch(filter, topic) || (filter.endsWith('/#') && isMatch(filter.slice(0, -2), topic))
}

const keys = ['a', 'b.c', '$geo', '$settings'] as const
const level = fc.constantFrom('values', 'errors', '+', 'a', 'b.c', '$geo', 'write', 'x', '')
const rest = fc
  .tuple(fc.array(level, { maxLength: 3 }), fc.boolean())
  .map(([levels, isOpen]) => [...levels, ...(isOpen ? ['#'] : [])].map(each => `/${each}`).join(''))
const filter = fc
  .tuple(fc.constantFrom('things/', 'v2/things/'), fc.constantFrom(a, b, '+'), rest)
  .map(parts => parts.join(''))
const qos = fc.constantFrom(0 as const, 1 as const, 2 as const)

function write(thingId: string, writeNumber = 1, recordKeys: readonly string[] = ['a']): LiveWrite {
  const records = recordKeys.map((key, place) => ({ key, datetime: 0, value: '1', place, explicit: false }))
  return new LiveWrite({
    thingId,
    writeNumber,
    receivedAt: 0,
    records,
    latest: [],
    stored: true,
    broadcast: true,
  })
}

describe('in()', () => {
  it('wants the topics that filters match, each at the highest QoS of them, 1 at most', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(filter, qos), { maxLength: 6 }), chosen => {
        const interests = new Interests(chosen.map(([filter, qos]) => subscription(filter, qos)))
        // Of two with one filter the later one counts.
        const last = [...new Map(chosen)]
        const highest = (topic: string) => {
          const matching = last.filter(([filter]) => isMatchOrParent(filter, topic)).map(([, qos]) => qos)
          return matching.length === 0 ? undefined : Math.min(1, Math.max(...matching))
        }
        for (const thingId of [a, b]) {
          const interest = interests.in(thingId)
          for (const key of keys) {
            expect(qosOf(interest, key)).toBe(highest(`things/${thingId}/values/${key}`))
          }
          expect(qosIn(interest.errors)).toBe(highest(`things/${thingId}/errors`))
          expect(qosIn(interest.whole)).toBe(highest(`v2/things/${thingId}`))
        }
      }),
    )
  })

  it('is as of now, whatever was added and taken away', () => {
    const interests = new Interests()
    expect(qosOf(interests.in(a), 'x')).toBeUndefined()
    interests.add(subscription('things/+/values/+', 0))
    expect([qosOf(interests.in(a), 'x'), qosOf(interests.in(b), 'x')]).toEqual([0, 0])
    interests.add(subscription(`things/${a}/values/x`, 2))
    expect([qosOf(interests.in(a), 'x'), qosOf(interests.in(b), 'x')]).toEqual([1, 0])
    interests.delete('things/+/values/+')
    expect([qosOf(interests.in(a), 'x'), qosOf(interests.in(b), 'x')]).toEqual([1, undefined])
    interests.delete(`things/${a}/values/x`)
    expect(qosOf(interests.in(a), 'x')).toBeUndefined()
  })

  it('knows which things there are filters for', () => {
    const interests = new Interests([
      subscription(`things/${a}/errors`),
      subscription(`v2/things/${a}`),
      subscription(`things/${b}/#`),
    ])
    expect([...interests.things()].sort()).toEqual([a, b].sort())
    expect(interests.ofEveryThing).toBe(false)
    interests.delete(`things/${b}/#`)
    interests.add(subscription('v2/things/+'))
    expect([...interests.things()]).toEqual([a])
    expect(interests.ofEveryThing).toBe(true)
    expect(interests.size).toBe(3)
  })
})

describe('missedOf()', () => {
  it('is for the filters at QoS 1 that were there when it was written', () => {
    const interests = new Interests([
      subscription(`things/${a}/values/early`, 1, 5),
      subscription(`things/${a}/values/zero`, 0, 5),
      subscription('things/+/values/late', 2, 10),
    ])
    const missed = (writeNumber: number) => {
      const interest = interests.missedOf(write(a, writeNumber))
      return ['early', 'zero', 'late'].filter(key => qosOf(interest, key) !== undefined)
    }
    expect(missed(5)).toEqual([])
    expect(missed(6)).toEqual(['early'])
    expect(missed(10)).toEqual(['early'])
    expect(missed(11)).toEqual(['early', 'late'])
  })

  it('is not less after the same filter was subscribed to again, unless it was at QoS 0 or gone', () => {
    const filter = `things/${a}/values/x`
    const isMissed = (interests: Interests) => qosOf(interests.missedOf(write(a, 6)), 'x') !== undefined
    const interests = new Interests([subscription(filter, 1, 5)])
    interests.add(subscription(filter, 2, 8))
    expect(isMissed(interests)).toBe(true)
    interests.add(subscription(filter, 0, 9))
    expect(isMissed(interests)).toBe(false)
    interests.add(subscription(filter, 1, 10))
    expect(isMissed(interests)).toBe(false)
    const ended = new Interests([subscription(filter, 1, 5)])
    ended.delete(filter)
    ended.add(subscription(filter, 1, 8))
    expect(isMissed(ended)).toBe(false)
  })
})

it('qosAt() is of the messages that are wanted, of which that of the whole write is the last', () => {
  const interests = new Interests([
    subscription(`things/${a}/values/x`, 0),
    subscription(`things/${a}/values/z`, 1),
    subscription(`v2/things/${a}`, 0),
  ])
  const wanted = (each: LiveWrite) =>
    Array.from({ length: each.wholePlace + 1 }, (_, place) =>
      qosAt(each, place, interests.in(each.commit.thingId)),
    )
  expect(wanted(write(a, 1, ['x', 'y', 'z', 'x']))).toEqual([0, undefined, 1, 0, 0])
  // Of a magic record the state is told, by a commit of its own.
  expect(wanted(write(a, 1, ['$geo', 'z']))).toEqual([1, 0])
  expect(wanted(write(b))).toEqual([undefined, undefined])
})
