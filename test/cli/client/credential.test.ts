import { chmod, writeFile } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type CredentialSources, findCredential } from '../../../src/cli/client/credential.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'

const here = new URL('http://127.0.0.1:8080')

async function sources(change: Partial<CredentialSources> = {}): Promise<CredentialSources> {
  const dataDir = await temporaryDirectory()
  await writeFile(join(dataDir, 'admin-key'), 'of-the-data-directory\n', { mode: 0o600 })
  return { url: here, credentialFile: undefined, dataDir, environment: {}, ...change }
}

describe('findCredential()', () => {
  it('takes the file, then the token, then the admin key, then the one of this machine', async () => {
    const file = join(await temporaryDirectory(), 'credential')
    await writeFile(file, ' of-the-file \n')
    const environment = { THINGWIRE_TOKEN: 'token', THINGWIRE_ADMIN_KEY: 'key' }
    expect(await findCredential('any', await sources({ credentialFile: file, environment }))).toMatchObject({
      text: 'of-the-file',
      source: file,
    })
    expect(await findCredential('any', await sources({ environment }))).toMatchObject({
      text: 'token',
      source: 'THINGWIRE_TOKEN',
    })
    expect(await findCredential('operator', await sources({ environment }))).toMatchObject({
      text: 'key',
      source: 'THINGWIRE_ADMIN_KEY',
    })
    const own = await sources()
    const ofDirectory = { text: 'of-the-data-directory', source: join(own.dataDir, 'admin-key') }
    expect(await findCredential('any', own)).toMatchObject(ofDirectory)
    const local = await sources({ url: new URL('http://[::1]:8080') })
    expect(await findCredential('any', local)).toMatchObject({ text: 'of-the-data-directory' })
  })

  it.each(['"', "'"])('takes a token in %s', async quote => {
    const token = 'a-token_'.padEnd(43, 'x')
    const file = join(await temporaryDirectory(), 'credential')
    await writeFile(file, `${quote}${token}${quote}\n`)
    expect(await findCredential('any', await sources({ credentialFile: file }))).toMatchObject({
      text: token,
    })
  })

  it('names the token that is wanted of a whole answer', async () => {
    const text = '{"thingId":"abcdefgh234567ab","thingToken":"hidden"}'
    const error: unknown = await findCredential(
      'any',
      await sources({ environment: { THINGWIRE_TOKEN: text } }),
    ).catch(thrown => thrown)
    expect(error).toMatchObject({ status: 4, message: expect.stringContaining('jq -r .thingToken') })
    expect(String(error)).not.toContain('hidden')
  })

  it.each(['http://example.org', 'http://127.0.0.1.example.org', 'http://10.0.0.1:8080'])(
    'sends the admin key of this machine not to %s',
    async url => {
      await expect(findCredential('any', await sources({ url: new URL(url) }))).rejects.toMatchObject({
        status: 4,
      })
    },
  )

  it('sends the admin key of this machine to each address of this machine', async () => {
    const all = Object.values(networkInterfaces()).flatMap(each => each ?? [])
    for (const { address } of all.filter(({ family }) => family === 'IPv4')) {
      const given = await sources({ url: new URL(`http://${address}:8080`) })
      expect(await findCredential('operator', given)).toMatchObject({
        source: join(given.dataDir, 'admin-key'),
      })
    }
  })

  it('refuses a key that others can read, and one that is none', async () => {
    const open = await sources()
    await chmod(join(open.dataDir, 'admin-key'), 0o644)
    await expect(findCredential('any', open)).rejects.toMatchObject({ status: 4 })
    const spaced = await sources({ environment: { THINGWIRE_TOKEN: 'hidden word' } })
    const error: unknown = await findCredential('any', spaced).catch(thrown => thrown)
    expect(error).toMatchObject({ status: 4 })
    expect(String(error)).not.toContain('hidden')
  })
})
