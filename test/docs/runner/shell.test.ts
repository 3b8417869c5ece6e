import { expect, test } from 'vitest'
import { shownText } from './shell.ts'

test('shownText() is what a terminal shows at last', () => {
  expect(shownText('\x1b[32mok\x1b[0m\r\n10 %\r90 %\rdone\r\nlive\r')).toBe('ok\ndone\nlive')
})
