import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { CommitTicket } from '../../src/store/contract.ts'
import { TimeLimit } from '../../src/store/time-limit.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval'] }))
afterEach(() => void vi.useRealTimers())

test('run() gives up what is late, and nothing that has settled or began later', async () => {
  const life = { left: 0, enter: () => void life.left++, leave: () => void life.left-- }
  const limit = new TimeLimit(1_000, life)
  const begin = () => {
    let settle: (result: Promise<string>) => void = () => {}
    const tickets: CommitTicket[] = []
    const result = limit.run(ticket => {
      tickets.push(ticket)
      return new Promise<string>(resolve => (settle = resolve))
    })
    result.catch(() => {})
    return { result, settle, isExpired: () => tickets[0]?.expired }
  }
  const [first, settled, refused, last] = [begin(), begin(), begin(), begin()]
  settled.settle(Promise.resolve('in time'))
  refused.settle(Promise.reject(new Error('no disk')))
  expect(await settled.result).toBe('in time')
  await expect(refused.result).rejects.toThrow('no disk')
  vi.advanceTimersByTime(500)
  const later = begin()
  vi.advanceTimersByTime(500)
  for (const { result } of [first, last]) {
    await expect(result).rejects.toMatchObject({ reason: 'store_timeout' })
  }
  const expired = [first, settled, refused, last, later].map(each => each.isExpired())
  expect(expired).toEqual([true, false, false, true, false])
  later.settle(Promise.resolve('in time, too'))
  expect(await later.result).toBe('in time, too')
  // What is given up is still under way.
  expect(life.left).toBe(2)
})
