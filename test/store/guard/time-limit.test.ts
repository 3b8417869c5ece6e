import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { promiseOf } from '../../../src/core/async/ticket.ts'
import { LockLost } from '../../../src/core/locks.ts'
import { ThingwireError } from '../../../src/errors.ts'
import type { CommitTicket } from '../../../src/store/contract.ts'
import { TimeLimit } from '../../../src/store/guard/time-limit.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval'] }))
/** Milliseconds between two looks at what waits. */
const sweep = 125
afterEach(() => void vi.useRealTimers())

/** A limit of a second, and how many of what was begun have not settled yet. */
function limited() {
  const life = { left: 0, enter: () => void life.left++, leave: () => void life.left-- }
  const limit = new TimeLimit(1_000, life)
  const begin = (owner?: string) => {
    const begun: { ticket?: CommitTicket<string> } = {}
    const lock = owner === undefined ? undefined : { name: 'client/a', owner }
    const result = promiseOf<string>(ticket =>
      limit.run(ticket, own => Object.assign(begun, { ticket: own }), lock),
    )
    result.catch(() => {})
    return { result, ticket: begun.ticket as CommitTicket<string> }
  }
  return { limit, life, begin }
}

test('run() gives up what is late, and nothing that has settled or began later', async () => {
  const { life, begin } = limited()
  const first = begin()
  const settled = begin()
  const refused = begin()
  const last = begin()
  settled.ticket.resolve('in time')
  refused.ticket.reject(new Error('no disk'))
  vi.advanceTimersByTime(500)
  const later = begin()
  expect(life.left).toBe(3)
  vi.advanceTimersByTime(500 + sweep)
  for (const { result, ticket } of [first, last]) {
    await expect(result).rejects.toMatchObject({ reason: 'store_timeout' })
    expect(ticket.expired).toBe(true)
  }
  expect([settled.ticket.expired, refused.ticket.expired]).toEqual([false, false])
  expect(await settled.result).toBe('in time')
  await expect(refused.result).rejects.toThrow('no disk')
  later.ticket.resolve('in time, too')
  expect(await later.result).toBe('in time, too')
  expect(later.ticket.expired).toBe(false)
  expect(life.left).toBe(2)
  first.ticket.resolve('late')
  last.ticket.reject(new Error('late'))
  expect(life.left).toBe(0)
  await expect(first.result).rejects.toMatchObject({ reason: 'store_timeout' })
})

test('run() gives up with what is late whatever began behind it in the same name', async () => {
  const { begin } = limited()
  const late = begin('one')
  vi.advanceTimersByTime(900)
  const [behind, ofAnother, ofNobody] = [begin('one'), begin('another'), begin()]
  vi.advanceTimersByTime(100 + sweep)
  for (const { result, ticket } of [late, behind]) {
    await expect(result).rejects.toMatchObject({ reason: 'store_timeout' })
    expect(ticket.expired).toBe(true)
  }
  expect([ofAnother.ticket.expired, ofNobody.ticket.expired]).toEqual([false, false])
  const after = begin('one')
  after.ticket.resolve('in time')
  expect(await after.result).toBe('in time')
})

test.each([
  ['store_unavailable', true],
  ['store_timeout', true],
  ['store_full', true],
  ['too_many_resources', false],
  ['a lock that is lost', false],
] as const)('run() gives up what began behind %s in the same name: %s', async (what, isGivenUp) => {
  const { begin } = limited()
  const [before, failed, behind, ofAnother] = ['one', 'one', 'one', 'another'].map(begin)
  const error =
    what === 'a lock that is lost'
      ? new LockLost({ name: 'client/a', owner: 'one' })
      : new ThingwireError(what)
  failed?.ticket.reject(error)
  await expect(failed?.result).rejects.toBe(error)
  expect([before, behind, ofAnother].map(each => each?.ticket.expired)).toEqual([false, isGivenUp, false])
  if (isGivenUp) await expect(behind?.result).rejects.toMatchObject({ reason: 'store_timeout' })
})

test('run() hears first, after a pause of the process, of what was committed', async () => {
  const { begin } = limited()
  const [committed, late] = [begin(), begin()]
  const begun = performance.now()
  const paused = vi.spyOn(performance, 'now').mockReturnValue(begun + 6_000)
  vi.advanceTimersByTime(sweep)
  committed.ticket.resolve('in time')
  vi.advanceTimersByTime(sweep)
  paused.mockRestore()
  expect(await committed.result).toBe('in time')
  await expect(late.result).rejects.toMatchObject({ reason: 'store_timeout' })
})

test('run() rejects with what is thrown at once', async () => {
  const { limit, life } = limited()
  const thrown = promiseOf(ticket =>
    limit.run(ticket, () => {
      throw new Error('broken')
    }),
  )
  await expect(thrown).rejects.toThrow('broken')
  expect(life.left).toBe(0)
})
