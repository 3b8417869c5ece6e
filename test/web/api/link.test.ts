import { expect, test } from 'vitest'
import { nextOf } from '../../../web/src/api/link.ts'

const base = 'https://host/iot/v2/things/a/resources/b?limit=1'

test.each([
  ['<?cursor=c&limit=1>; rel="next"', 'https://host/iot/v2/things/a/resources/b?cursor=c&limit=1'],
  ['<c?cursor=d> ; rel="next"', 'https://host/iot/v2/things/a/resources/c?cursor=d'],
  ['</v2/things?cursor=c>; rel="next"', 'https://host/v2/things?cursor=c'],
  ['<https://other/x>; rel="next"', 'https://other/x'],
  ['<?cursor=c>; rel="prev"', undefined],
  ['', undefined],
  [null, undefined],
])('nextOf() finds in %j the address of what follows: %s', (link, next) => {
  expect(nextOf(link, base)).toBe(next)
})
