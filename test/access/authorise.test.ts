import { describe, expect, it } from 'vitest'
import type { Action } from '../../src/access/index.ts'
import { createThingId, createToken, hashToken } from '../../src/core/token.ts'
import type { StoreDriver } from '../../src/store/contract.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { adminKey, createLookupGate, documentsUnder, openAccess } from './open-access.ts'

const allowedToThings: readonly Action[] = ['write', 'read', 'read refused writes']

describe('authorise()', () => {
  it.each(allowedToThings)(
    'lets a thing %s with its token as <ref>, whatever the credential',
    async action => {
      const { access, registry } = await openAccess()
      const { thingId, thingToken } = await registry.create({})
      expect(await access.authorise(thingToken, undefined, action)).toBe(thingId)
      expect(await access.authorise(thingToken, 'nonsense', action)).toBe(thingId)
    },
  )

  it.each(allowedToThings)(
    'lets a thing %s with its id as <ref> and its token as credential',
    async action => {
      const { access, registry } = await openAccess()
      const { thingId, thingToken } = await registry.create({})
      expect(await access.authorise(thingId, thingToken, action)).toBe(thingId)
    },
  )

  it.each([...allowedToThings, 'delete'] as const)('lets the admin %s on an id', async action => {
    const { access, registry } = await openAccess()
    const { thingId } = await registry.create({})
    expect(await access.authorise(thingId, adminKey, action)).toBe(thingId)
  })

  it('lets a thing delete only with allowThingDelete', async () => {
    const strict = await openAccess()
    const first = await strict.registry.create({})
    for (const [ref, credential] of [[first.thingToken], [first.thingId, first.thingToken]] as const) {
      const refused = strict.access.authorise(ref, credential, 'delete')
      await expect(refused).rejects.toMatchObject({ reason: 'forbidden' })
    }
    const lenient = await openAccess({ allowThingDelete: true })
    const second = await lenient.registry.create({})
    expect(await lenient.access.authorise(second.thingToken, undefined, 'delete')).toBe(second.thingId)
    expect(await lenient.access.authorise(second.thingId, second.thingToken, 'delete')).toBe(second.thingId)
  })

  it('refuses each wrong pair of <ref> and credential for its own reason', async () => {
    const { access, registry } = await openAccess()
    const mine = await registry.create({})
    const other = await registry.create({})
    const cases = [
      [createToken(), undefined, 'unknown_thing_token'],
      [createToken(), adminKey, 'unknown_thing_token'],
      [adminKey, undefined, 'unknown_thing_token'],
      [mine.thingId, undefined, 'missing_credential'],
      [mine.thingId, '', 'missing_credential'],
      [mine.thingId, createToken(), 'invalid_session'],
      [mine.thingId, `${adminKey}x`, 'invalid_session'],
      [mine.thingId, 'x'.repeat(100_000), 'invalid_session'],
      [mine.thingId, mine.thingId, 'invalid_session'],
      [mine.thingId, hashToken(mine.thingToken), 'invalid_session'],
      [mine.thingId, other.thingToken, 'forbidden'],
      [createThingId(), other.thingToken, 'forbidden'],
      [createThingId(), adminKey, 'unknown_thing'],
      [hashToken(mine.thingToken), undefined, 'unknown_thing_token'],
      [mine.thingId.toUpperCase(), adminKey, 'not_found'],
      ['', adminKey, 'not_found'],
      ['../things', adminKey, 'not_found'],
    ] as const
    for (const [ref, credential, reason] of cases) {
      await expect(access.authorise(ref, credential, 'read')).rejects.toMatchObject({ reason })
    }
  })

  it('reads a token once for writes that arrive together, and answers them in order', async () => {
    const driver = createMemoryStore()
    const reads: string[] = []
    const counted: StoreDriver = {
      ...driver,
      documents: {
        ...driver.documents,
        get: name => {
          reads.push(name)
          return driver.documents.get(name)
        },
      },
    }
    const { access, registry } = await openAccess({ driver: counted })
    const { thingToken } = await registry.create({})
    const answered: number[] = []
    const calls = Array.from({ length: 50 }, async (_, call) => {
      await access.authorise(thingToken, undefined, 'write')
      answered.push(call)
    })
    await Promise.all(calls)
    await access.authorise(thingToken, undefined, 'write')
    expect(reads).toEqual([`tokens/${hashToken(thingToken)}`])
    expect(answered).toEqual(Array.from({ length: 50 }, (_, call) => call))
  })

  it('answers with the store failing, and not as if the token were unknown', async () => {
    const { access, store } = await openAccess()
    await store.close()
    const refused = access.authorise(createToken(), undefined, 'write')
    await expect(refused).rejects.toMatchObject({ reason: 'store_unavailable' })
  })

  it('refuses a token that is revoked while it is being looked up', async () => {
    const gate = createLookupGate()
    const { access, registry } = await openAccess({ driver: gate.intercept(createMemoryStore()) })
    const { thingId, thingToken } = await registry.create({})
    gate.hold()
    const write = access.authorise(thingToken, undefined, 'write')
    await gate.reached
    await registry.remove(thingId)
    gate.open()
    await expect(write).rejects.toMatchObject({ reason: 'unknown_thing_token' })
  })
})

describe('authoriseAdmin()', () => {
  it('takes the admin key and refuses everything else for its own reason', async () => {
    const { access, registry } = await openAccess()
    const { thingToken } = await registry.create({})
    await access.authoriseAdmin(adminKey)
    const cases = [
      [undefined, 'missing_credential'],
      ['', 'missing_credential'],
      [createToken(), 'invalid_session'],
      [adminKey.slice(0, -1), 'invalid_session'],
      [thingToken, 'forbidden'],
    ] as const
    for (const [credential, reason] of cases) {
      await expect(access.authoriseAdmin(credential)).rejects.toMatchObject({ reason })
    }
  })
})

describe('thingOfToken()', () => {
  it('knows live tokens only', async () => {
    const { access, registry } = await openAccess()
    const { thingId, thingToken } = await registry.create({})
    expect(await access.thingOfToken(thingToken)).toBe(thingId)
    for (const token of [createToken(), thingId, '', adminKey]) {
      await expect(access.thingOfToken(token)).rejects.toMatchObject({ reason: 'unknown_thing_token' })
    }
  })

  it('marks the token used before it answers', async () => {
    const { access, registry } = await openAccess()
    const { thingId, thingToken } = await registry.create({})
    expect(await registry.tokens(thingId)).toMatchObject([{ used: false }])
    await access.thingOfToken(thingToken)
    expect(await registry.tokens(thingId)).toMatchObject([{ used: true }])
  })

  it('leaves no token in any document', async () => {
    const { access, registry, activationCodes, store } = await openAccess()
    const { thingId, thingToken } = await registry.create({ name: 'boat' })
    const second = await registry.addToken(thingId)
    await access.thingOfToken(thingToken)
    const [code = ''] = await activationCodes.create({ count: 1, uses: 1 })
    const activated = await activationCodes.activate(code)
    const kept = JSON.stringify(await documentsUnder(store.documents, ''))
    expect(kept).toContain(hashToken(thingToken))
    for (const token of [thingToken, second.thingToken, activated.thingToken, adminKey]) {
      expect(kept).not.toContain(token)
    }
  })
})
