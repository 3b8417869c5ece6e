import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadAdminKey } from '../../src/access/index.ts'
import { isToken } from '../../src/core/token.ts'

let directory: string
let file: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'thingwire-admin-key-'))
  file = join(directory, 'data', 'admin-key')
})
afterEach(() => rm(directory, { recursive: true }))

async function refusal(options: { configured?: string; file: string }): Promise<Error> {
  const error = await loadAdminKey(options).catch((error: unknown) => error)
  if (!(error instanceof Error)) throw new Error('it was not refused')
  expect(error.message).not.toContain('\n')
  return error
}

describe('loadAdminKey()', () => {
  it('takes the configured key and touches no file', async () => {
    const configured = 'x'.repeat(32)
    expect(await loadAdminKey({ configured, file })).toEqual({ key: configured, created: false })
    expect(await readdir(directory)).toEqual([])
  })

  it('refuses a configured key that is short, empty or not printable ASCII, without telling it', async () => {
    for (const configured of ['', 'x'.repeat(31), `${'x'.repeat(32)} y`, 'é'.repeat(40)]) {
      const error = await refusal({ configured, file })
      if (configured !== '') expect(error.message).not.toContain(configured)
    }
    expect(await readdir(directory)).toEqual([])
  })

  it('makes a key of mode 0600 on the first start and finds it on the next', async () => {
    const first = await loadAdminKey({ file })
    expect(first).toEqual({ key: expect.any(String), created: true, file })
    expect(isToken(first.key)).toBe(true)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect((await readFile(file, 'utf8')).trim()).toBe(first.key)
    expect(await loadAdminKey({ file })).toEqual({ key: first.key, created: false, file })
    expect(await readdir(join(directory, 'data'))).toEqual(['admin-key'])
  })

  it('gives one key to all that start at the same time', async () => {
    const keys = await Promise.all(Array.from({ length: 20 }, () => loadAdminKey({ file })))
    expect(new Set(keys.map(({ key }) => key)).size).toBe(1)
    expect(keys.filter(({ created }) => created)).toHaveLength(1)
    expect(await readdir(join(directory, 'data'))).toEqual(['admin-key'])
  })

  it('refuses a file whose key is too short, and leaves it as it is', async () => {
    file = join(directory, 'admin-key')
    for (const content of ['', '\n', `${'x'.repeat(31)}\n`]) {
      await writeFile(file, content, { mode: 0o600 })
      expect((await refusal({ file })).message).toContain(file)
      expect(await readFile(file, 'utf8')).toBe(content)
    }
  })

  it('refuses a file that other users can read or write', async () => {
    await loadAdminKey({ file })
    for (const mode of [0o640, 0o604, 0o620]) {
      await chmod(file, mode)
      expect((await refusal({ file })).message).toContain(file)
    }
    await chmod(file, 0o400)
    expect((await loadAdminKey({ file })).created).toBe(false)
  })
})
