import { expect, test } from 'vitest'
import { visibleName } from '../../../web/src/api/visible-name.ts'

test.each([' ', '\t', '\u00a0', '\u200b', '\u3164', '\u2800', ''])('nothing is seen of the name %j', name => {
  expect(visibleName(name)).toBe('')
})

test.each(['boat', ' boat', '0', '.', '船', '👩\u200d🚀'])('the name %j stays as it is', name => {
  expect(visibleName(name)).toBe(name)
})
