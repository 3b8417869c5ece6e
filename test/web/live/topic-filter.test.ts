import { describe, expect, test } from 'vitest'
import { matchesFilter } from '../../../web/src/live/topic-filter.ts'

describe('matchesFilter()', () => {
  test.each([
    ['things/a/values/#', 'things/a/values/depth', true],
    ['things/a/values/#', 'things/a/values', true],
    ['things/a/values/#', 'things/a/errors', false],
    ['things/a/values/#', 'things/b/values/depth', false],
    ['things/+/values/$geo', 'things/b/values/$geo', true],
    ['things/+/values/$geo', 'things/b/values/depth', false],
    ['v2/things/a', 'v2/things/a', true],
    ['v2/things/a', 'v2/things/a/b', false],
  ])('of %s and %s is %s', (filter, topic, matches) => {
    expect(matchesFilter(filter, topic)).toBe(matches)
  })
})
