import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createAccess } from '../../src/access/index.ts'
import { hashToken } from '../../src/core/token.ts'
import { sourceRules } from '../../src/formats/registry.ts'
import { createLevelStore } from '../../src/store/level/index.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { openStore } from '../../src/store/open-store.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { openAccess, place } from './open-access.ts'

describe('createAccess()', () => {
  it('finds things, tokens and codes again after a restart, with used and revoked as they were', async () => {
    const location = await temporaryDirectory()
    const first = await openAccess({ driver: createLevelStore({ location }) })
    const boat = await first.registry.create({ name: 'boat' })
    const revoked = await first.registry.addToken(boat.thingId)
    await first.access.thingOfToken(boat.thingToken)
    await first.access.thingOfToken(revoked.thingToken)
    await first.registry.removeToken(boat.thingId, revoked.tokenId)
    await place(first.store, boat.thingId, 2.22, 41.41)
    const [unspent = '', lost = '', used = ''] = await first.activationCodes.create({ count: 3, uses: 1 })
    const lostThing = await first.activationCodes.activate(lost)
    await first.access.thingOfToken((await first.activationCodes.activate(used)).thingToken)
    await first.close()

    const { access, registry, activationCodes } = await openAccess({ driver: createLevelStore({ location }) })
    expect(await access.thingOfToken(boat.thingToken)).toBe(boat.thingId)
    await expect(access.thingOfToken(revoked.thingToken)).rejects.toMatchObject({
      reason: 'unknown_thing_token',
    })
    const { things } = await registry.list({ limit: 10, name: 'boat' })
    expect(things).toMatchObject([{ thingId: boat.thingId, position: { lat: 41.41, long: 2.22 } }])
    expect(await registry.tokens(boat.thingId)).toMatchObject([{ used: true }])
    expect((await activationCodes.activate(lost)).thingId).toBe(lostThing.thingId)
    await activationCodes.activate(unspent)
    await expect(activationCodes.activate(used)).rejects.toMatchObject({ reason: 'unknown_activation_code' })
  })

  it('leaves no token in the files of the store', async () => {
    const location = await temporaryDirectory()
    const { access, registry, activationCodes, close } = await openAccess({
      driver: createLevelStore({ location }),
    })
    const { thingId, thingToken } = await registry.create({})
    await access.authorise(thingId, thingToken, 'write')
    const [code = ''] = await activationCodes.create({ count: 1, uses: 1 })
    const activated = await activationCodes.activate(code)
    await access.thingOfToken(activated.thingToken)
    await close()
    const files = await readdir(location, { recursive: true, withFileTypes: true })
    const paths = files.filter(file => file.isFile()).map(file => join(file.parentPath, file.name))
    const bytes = Buffer.concat(await Promise.all(paths.map(path => readFile(path))))
    expect(bytes.includes(hashToken(thingToken))).toBe(true)
    for (const token of [thingToken, activated.thingToken]) expect(bytes.includes(token)).toBe(false)
  })

  it('refuses an admin key that is too short', async () => {
    const store = await openStore(createMemoryStore())
    onTestFinished(() => store.close())
    const short = createAccess({
      ...store,
      adminKey: 'x'.repeat(31),
      allowThingDelete: false,
      rules: sourceRules,
    })
    await expect(short).rejects.toThrow(Error)
  })
})
