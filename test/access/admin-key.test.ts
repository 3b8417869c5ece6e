import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { type AdminKey, keepAdminKey, loadAdminKey } from '../../src/access/index.ts'
import { isToken } from '../../src/core/token.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

let directory: string
let file: string
beforeEach(async () => {
  directory = await temporaryDirectory()
  file = join(directory, 'data', 'admin-key')
})

/** As a start that comes to its end does. */
async function loadAndKeep(): Promise<AdminKey> {
  const loaded = await loadAdminKey({ file })
  await keepAdminKey(loaded)
  return loaded
}

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
    const first = await loadAndKeep()
    expect(first).toEqual({ key: expect.any(String), created: true, file })
    expect(isToken(first.key)).toBe(true)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect((await readFile(file, 'utf8')).trim()).toBe(first.key)
    expect(await loadAdminKey({ file })).toEqual({ key: first.key, created: false, file })
    expect(await readdir(join(directory, 'data'))).toEqual(['admin-key'])
  })

  it('leaves no file of a new key that is not kept', async () => {
    await loadAdminKey({ file })
    expect(await readdir(directory)).toEqual([])
  })

  it('keeps the key of one of those that start at the same time, and refuses the others', async () => {
    const started = await Promise.allSettled(Array.from({ length: 20 }, loadAndKeep))
    const [kept, ...more] = started.filter(each => each.status === 'fulfilled').map(({ value }) => value)
    expect(more.filter(({ created }) => created)).toEqual([])
    expect((await readFile(file, 'utf8')).trim()).toBe(kept?.key)
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
    await loadAndKeep()
    for (const mode of [0o640, 0o604, 0o620]) {
      await chmod(file, mode)
      expect((await refusal({ file })).message).toContain(file)
    }
    await chmod(file, 0o400)
    expect((await loadAdminKey({ file })).created).toBe(false)
  })
})
