import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { ask, createThing, readAll, type Thing, write } from '../../helpers/http-client.ts'
import { serverOfTest } from '../../helpers/of-test.ts'
import { runCli, startServer } from '../../helpers/server-process.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'

describe('thingwire restore', () => {
  let backup: Buffer
  let thing: Thing
  let listed: object

  beforeAll(async () => {
    let remove = async () => {}
    const dataDir = await temporaryDirectory(end => {
      remove = end
    })
    const server = await startServer({ dataDir })
    thing = await createThing(server)
    await write(server, thing, { values: [{ key: 'n', value: 'kept' }] })
    listed = await ask(server, 'GET', '/v2/admin/things')
    const headers = { authorization: `Bearer ${server.adminKey}` }
    const response = await fetch(`${server.url}/v2/admin/backup`, { method: 'POST', headers })
    expect(response.status).toBe(200)
    backup = Buffer.from(await response.arrayBuffer())
    await server.stop()
    return remove
  })

  async function restore(content: Buffer, dataDir: string, environment: NodeJS.ProcessEnv = {}) {
    const file = join(await temporaryDirectory(), 'backup')
    await writeFile(file, content)
    return runCli({ args: ['restore', file, '--data-dir', dataDir], environment })
  }

  it('makes a data directory in which things, tokens and records are as they were', async () => {
    const dataDir = join(await temporaryDirectory(), 'new')
    const keyFile = join(dataDir, 'admin-key')
    expect(await restore(backup, dataDir)).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringContaining(`no admin key: the first start creates a new one, in ${keyFile}`),
    })
    const server = await serverOfTest({ dataDir })
    expect((await readFile(keyFile, 'utf8')).trim()).toBe(server.adminKey)
    expect(await ask(server, 'GET', '/v2/admin/things')).toEqual(listed)
    expect(listed).toMatchObject({
      things: [{ lastSeen: expect.any(String), lastWrite: expect.any(String) }],
    })
    expect(await readAll(server, thing, 'n')).toMatchObject([{ key: 'n', value: 'kept' }])
    expect(await write(server, thing, { values: [{ key: 'n', value: 'more' }] })).toMatchObject({
      status: 201,
    })
  })

  it('says of an admin key that is set that it is that of the server', async () => {
    const dataDir = join(await temporaryDirectory(), 'new')
    const environment = { THINGWIRE_ADMIN_KEY: 'k'.repeat(32) }
    const { code, stdout } = await restore(backup, dataDir, environment)
    expect(code).toBe(0)
    expect(stdout).toMatch(/no admin key: the key of the server is that of THINGWIRE_ADMIN_KEY\n$/)
  })

  it('refuses a data directory that is not empty, and leaves it as it is', async () => {
    const dataDir = await temporaryDirectory()
    await writeFile(join(dataDir, 'something'), '')
    const { code, stderr } = await restore(backup, dataDir)
    expect(code).toBe(1)
    expect(stderr).toMatch(/^thingwire: [^\n]*must be empty[^\n]* \(--data-dir names the data directory\)\n$/)
    expect(await readdir(dataDir)).toEqual(['something'])
  })

  it.each([
    ['cut off', () => backup.subarray(0, backup.length - 1), /cut off/],
    ['damaged at its end', () => flipBit(backup, backup.length - 1), /damaged/],
    ['damaged in its middle', () => flipBit(backup, backup.length >> 1), /damaged|cut off/],
    ['longer than it was', () => Buffer.concat([backup, backup]), /after the end/],
    ['no backup at all', () => Buffer.alloc(1_000, 'hello'), /not a Thingwire backup/],
  ])('refuses a backup that is %s, and leaves nothing', async (_case, content, message) => {
    const dataDir = await temporaryDirectory()
    const { code, stderr } = await restore(content(), dataDir)
    expect(code).toBe(1)
    expect(stderr).toMatch(/^thingwire: [^\n]+\n$/)
    expect(stderr).toMatch(message)
    expect(await readdir(dataDir)).toEqual([])
    const parent = await temporaryDirectory()
    expect((await restore(content(), join(parent, 'new'))).code).toBe(1)
    expect(await readdir(parent)).toEqual([])
  })

  it('names a backup that is not there', async () => {
    const dataDir = await temporaryDirectory()
    const { code, stderr } = await runCli({ args: ['restore', 'nowhere.backup', '--data-dir', dataDir] })
    expect(code).toBe(1)
    expect(stderr).toMatch(/^thingwire: [^\n]*nowhere\.backup[^\n]*\n$/)
  })
})

function flipBit(bytes: Buffer, place: number): Buffer {
  return Buffer.from(bytes.map((byte, at) => (at === place ? byte ^ 1 : byte)))
}
