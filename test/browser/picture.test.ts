import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

/** The first bytes of a PNG with its width and height (ISO/IEC 15948, 5.2 and 11.2.2). */
async function sizeOf(file: string): Promise<string> {
  const bytes = await readFile(file)
  expect(bytes.subarray(1, 4).toString()).toBe('PNG')
  expect(bytes.length).toBeLessThan(250_000)
  return `${bytes.readUInt32BE(16)} x ${bytes.readUInt32BE(20)}`
}

it('npm run picture makes a picture as large as that of the README', async () => {
  const file = join(await temporaryDirectory(), 'picture.png')
  await promisify(execFile)('npm', ['run', 'picture', '--', file])
  expect(await sizeOf(file)).toBe(await sizeOf('docs/picture.png'))
})
