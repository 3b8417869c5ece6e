import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

/** The first bytes of an extended WebP with its width and height, each less one (RFC 9649, 2.7). */
async function sizeOf(file: string): Promise<string> {
  const bytes = await readFile(file)
  expect(bytes.subarray(8, 16).toString()).toBe('WEBPVP8X')
  expect(bytes.length).toBeLessThan(100_000)
  return `${bytes.readUIntLE(24, 3) + 1} x ${bytes.readUIntLE(27, 3) + 1}`
}

it('npm run picture makes a picture as large as that of the README', async () => {
  const file = join(await temporaryDirectory(), 'picture.webp')
  await promisify(execFile)('npm', ['run', 'picture', '--', file])
  expect(await sizeOf(file)).toBe(await sizeOf('docs/picture.webp'))
})
