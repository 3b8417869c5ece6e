import { beforeEach, expect, it, vi } from 'vitest'
import { RejectionCauses } from '../../../src/core/refusals/door-refusals.ts'
import { ThingwireError } from '../../../src/errors.ts'

const minute = 60_000

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  return () => vi.useRealTimers()
})

function collect() {
  const listed: string[] = []
  const rejections = new RejectionCauses((thingId, { message }, count) => {
    listed.push(`${thingId}: ${message} x${count}`)
  })
  const tell = (thingId: string, message: string) =>
    rejections.note(thingId, new ThingwireError('connection_closed', message))
  return { listed, tell }
}

it('a cause is listed at once, then once a minute with its count, as long as it comes', () => {
  const { listed, tell } = collect()
  for (let count = 0; count < 5; count++) tell('a', 'too large')
  expect(listed).toEqual(['a: too large x1'])
  vi.advanceTimersByTime(minute)
  expect(listed).toEqual(['a: too large x1', 'a: too large x4'])
  tell('a', 'too large')
  vi.advanceTimersByTime(minute)
  expect(listed.slice(2)).toEqual(['a: too large x1'])
  vi.advanceTimersByTime(minute)
  tell('a', 'too large')
  expect(listed.slice(3)).toEqual(['a: too large x1'])
})

it('causes and things are listed apart', () => {
  const { listed, tell } = collect()
  for (const thing of ['a', 'b']) for (const text of ['one', 'two', 'one']) tell(thing, text)
  expect(listed).toEqual(['a: one x1', 'a: two x1', 'b: one x1', 'b: two x1'])
})

it('a thing has at most ten causes in a minute, and new ones in the next', () => {
  const { listed, tell } = collect()
  for (let number = 0; number < 1_000; number++) tell('a', `cause ${number}`)
  expect(listed).toHaveLength(10)
  vi.advanceTimersByTime(minute)
  tell('a', 'another')
  expect(listed.slice(10)).toEqual(['a: another x1'])
})
