import { expect, test } from 'vitest'
import { nextOf } from '../../../web/src/api/link.ts'

test('nextOf() is the path of what follows', () => {
  expect(nextOf('</v2/things/a/resources/b?cursor=c>; rel="next"')).toBe('/v2/things/a/resources/b?cursor=c')
  expect(nextOf(null)).toBeUndefined()
})
