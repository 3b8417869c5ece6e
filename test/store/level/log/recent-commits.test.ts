import { array, assert, constantFrom, integer, property, record } from 'fast-check'
import { expect, it } from 'vitest'
import {
  type LoggedCommit,
  RecentCommits,
  type RecentQuery,
} from '../../../../src/store/level/log/recent-commits.ts'

const capacity = 8
const bytes = 100

it('RecentCommits gives in pieces what was added last and is asked for, in the order that is asked for', () => {
  const commit = record({ thingId: constantFrom('a', 'b', 'c'), bytes: integer({ min: 1, max: 150 }) })
  const query = record({
    after: integer({ min: 0, max: 30 }),
    before: constantFrom(1, 5, 10, 20, Number.POSITIVE_INFINITY),
    order: constantFrom('asc' as const, 'desc' as const),
    limit: integer({ min: 1, max: 5 }),
    wanted: constantFrom('', 'a', 'bc', 'abc'),
  })
  assert(
    property(array(commit, { maxLength: 25 }), query, (commits, { wanted, ...part }) => {
      const recent = new RecentCommits(capacity)
      const added = commits.map((each, place) => ({ ...each, writeNumber: 2 * place + 1 }))
      for (const each of added) recent.add(each)
      const known = added.filter(({ writeNumber }) => writeNumber >= recent.from)
      // What is not known is the older part, and not more of it than need be.
      expect(known).toEqual(added.slice(added.length - known.length))
      expect(known.length).toBeGreaterThanOrEqual(Math.min(added.length, capacity / 2 + 1))
      expect(known.length).toBeLessThanOrEqual(capacity)
      const isOf = (thingId: string) => wanted.includes(thingId)
      const expected = known.filter(
        ({ thingId, writeNumber: at }) => at > part.after && at < part.before && isOf(thingId),
      )
      if (part.order === 'desc') expected.reverse()
      expect(inPieces(recent, { ...part, isOf, bytes }, known)).toEqual(
        expected.map(({ writeNumber }) => writeNumber),
      )
    }),
  )
})

function inPieces(recent: RecentCommits, query: RecentQuery, known: readonly LoggedCommit[]): number[] {
  const all: number[] = []
  let { after, before } = query
  for (;;) {
    const piece = recent.select({ ...query, after, before })
    const last = piece.at(-1)
    if (last === undefined) return all
    all.push(...piece)
    const lengths = known.filter(each => piece.includes(each.writeNumber)).map(each => each.bytes)
    expect(piece.length).toBeLessThanOrEqual(query.limit)
    if (piece.length > 1) expect(lengths.reduce((sum, each) => sum + each)).toBeLessThanOrEqual(bytes)
    if (query.order === 'asc') after = last
    else before = last
  }
}
