import { expect, test } from 'vitest'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { exchange } from './exchange.ts'

/** The short form of `npm run relay`. */

test.each([
  ['left alone', false],
  ['killed in the middle', true],
])(
  'messages and writes of the same connections are complete and in order, the server %s',
  async (_how, isKilled) => {
    const dataDir = await temporaryDirectory()
    expect(await exchange({ dataDir, messages: 2_000, isKilled })).toEqual([])
  },
)
