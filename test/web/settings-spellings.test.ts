import { expect, test } from 'vitest'
import { documentProblem } from '../../web/src/thing/settings/spellings.ts'

test('documentProblem() says what keeps a text from being a settings document, and where', () => {
  expect(documentProblem('{"interval": 5}')).toBe('')
  expect(documentProblem('{"interval": 5,}')).toMatch(/^Not JSON: .*position 15/)
  expect(documentProblem('[5]')).toMatch(/JSON object/)
})
