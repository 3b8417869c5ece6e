import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { FailedCredentials } from '../../../src/access/limits/limits.ts'

const perMinute = 20
const minute = 60_000
const address = '192.0.2.1'

let now: number
let failures: FailedCredentials
beforeEach(() => {
  now = 1_000
  failures = new FailedCredentials(perMinute, () => now)
})

/** What `note` says of each of so many failures of an address. */
function fail(times: number, from = address): boolean[] {
  return Array.from({ length: times }, () => failures.note(from) > 0)
}

const none = (times: number) => Array.from({ length: times }, () => false)
const all = (times: number) => Array.from({ length: times }, () => true)

describe('FailedCredentials', () => {
  it('note() takes as many in a minute as it may, and refuses those after them', () => {
    expect(fail(perMinute)).toEqual(none(perMinute))
    expect(fail(3)).toEqual(all(3))
  })

  it('note() refuses for a minute from the first refusal, however many more there are', () => {
    fail(perMinute)
    now += minute - 1
    expect(fail(1)).toEqual([true])
    now += minute - 1
    expect(fail(50)).toEqual(all(50))
    now += 1
    expect(fail(perMinute + 1)).toEqual([...none(perMinute), true])
  })

  it('note() says for how many more seconds it refuses', () => {
    fail(perMinute)
    expect(failures.note(address)).toBe(60)
    now += 18_500
    expect(failures.note(address)).toBe(42)
    now += 41_499
    expect(failures.note(address)).toBe(1)
  })

  it('note() counts anew a minute after the first', () => {
    fail(perMinute)
    now += minute
    expect(fail(perMinute + 1)).toEqual([...none(perMinute), true])
  })

  it('note() counts each address for itself', () => {
    fail(perMinute + 1)
    expect(fail(1, '192.0.2.2')).toEqual([false])
  })

  it('note() counts the addresses of an IPv6 network, and both aliases of IPv4, as one', () => {
    fail(perMinute, '2001:db8::1')
    expect(fail(1, '2001:db8::ffff:2')).toEqual([true])
    expect(fail(1, '2001:db8:0:1::1')).toEqual([false])
    fail(perMinute, '::ffff:192.0.2.1')
    expect(fail(1)).toEqual([true])
  })

  it('note() forgets what is over, and never remembers more than 100,000 addresses', () => {
    for (let host = 0; host < 100_010; host++)
      failures.note(`10.${host >> 16}.${(host >> 8) & 255}.${host & 255}`)
    expect(failures.size).toBe(100_000)
    now += minute
    fail(1)
    expect(failures.size).toBe(1)
  })

  it('note() never refuses an address that has failed less often in the last two minutes than it may', () => {
    const attempt = fc.record({
      wait: fc.integer({ min: 0, max: 20_000 }),
      host: fc.integer({ min: 1, max: 3 }),
    })
    fc.assert(
      fc.property(
        fc.array(attempt, { maxLength: 200 }),
        fc.integer({ min: 1, max: 10 }),
        (attempts, maximum) => {
          let time = 0
          const limit = new FailedCredentials(maximum, () => time)
          const past: { readonly at: number; readonly host: number; readonly isRefused: boolean }[] = []
          for (const { wait, host } of attempts) {
            time += wait
            const isRefused = limit.note(`192.0.2.${host}`) > 0
            const since = (milliseconds: number) =>
              past.filter(each => each.host === host && each.at > time - milliseconds)
            if (isRefused) expect(since(2 * minute).length).toBeGreaterThanOrEqual(maximum)
            else expect(since(minute).filter(each => !each.isRefused).length).toBeLessThan(2 * maximum)
            past.push({ at: time, host, isRefused })
          }
        },
      ),
    )
  })
})
