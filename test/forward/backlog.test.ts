import { describe, expect, it } from 'vitest'
import type { Commit } from '../../src/core/ports.ts'
import { Backlog } from '../../src/forward/waiting.ts'

const commit = (writeNumber: number, values: number, size: number): Commit => ({
  thingId: 'a',
  writeNumber,
  receivedAt: 0,
  records: Array.from({ length: values }, (_, place) => ({
    key: 'n',
    value: 'x'.repeat(size),
    datetime: 0,
    explicit: false,
    place,
  })),
  latest: [],
  stored: true,
  broadcast: true,
})

/** Of one record, so that a portion has 1,000 commits; or of large values, so that it has fewer. */
function filled(count: number, values = 1, size = 0) {
  const backlog = new Backlog()
  const commits = Array.from({ length: count }, (_, index) => commit(10 * (index + 1), values, size))
  for (const each of commits) backlog.add(each)
  return { backlog, commits }
}

describe('Backlog', () => {
  it('counts what is added and not passed, in any order of passing', () => {
    const { backlog, commits } = filled(3_000)
    expect(backlog.records).toBe(3_000)
    for (const each of commits.toReversed()) backlog.pass(each)
    expect({ records: backlog.records, bytes: backlog.bytes }).toEqual({ records: 0, bytes: 0 })
  })

  it('clear() forgets what will never be passed', () => {
    const { backlog, commits } = filled(2_500)
    for (const each of commits.slice(0, 900)) backlog.pass(each)
    backlog.clear(20_000)
    expect(backlog.records).toBe(500)
    backlog.clear(25_000)
    expect({ records: backlog.records, bytes: backlog.bytes }).toEqual({ records: 0, bytes: 0 })
  })

  it('cut() gives up the oldest, and no more than is needed but for a portion', () => {
    const { backlog } = filled(1_000, 2, 10_000)
    const { bytes } = backlog
    const { upTo = 0, records = 0 } = backlog.cut(bytes / 2) ?? {}
    expect(backlog.bytes).toBeLessThanOrEqual(bytes / 2)
    expect(backlog.bytes).toBeGreaterThan(bytes / 2 - 200_000)
    expect(records).toBe(2 * (upTo / 10))
    expect(backlog.records).toBe(2_000 - records)
    expect(backlog.cut(bytes)).toBeUndefined()
  })
})
