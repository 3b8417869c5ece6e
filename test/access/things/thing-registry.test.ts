import { describe, expect, it } from 'vitest'
import { createThingId, isThingId, isToken } from '../../../src/core/token.ts'
import { adminKey, openAccess } from '../open-access.ts'

describe('ThingRegistry', () => {
  it('create() gives an id, a token and a listed thing', async () => {
    const { registry } = await openAccess()
    const before = Date.now()
    const { thingId, thingToken } = await registry.create({ name: 'Besançon ⛵' })
    expect(isThingId(thingId)).toBe(true)
    expect(isToken(thingToken)).toBe(true)
    const { things } = await registry.list({ limit: 10 })
    expect(things).toEqual([
      { thingId, name: 'Besançon ⛵', createdAt: expect.any(Number), lastSeen: undefined },
    ])
    expect(things[0]?.createdAt).toBeGreaterThanOrEqual(before)
  })

  it('rename() changes the name alone', async () => {
    const { access, registry } = await openAccess()
    const { thingId, thingToken } = await registry.create({ name: 'old' })
    await registry.rename(thingId, 'new')
    expect((await registry.list({ limit: 10 })).things).toMatchObject([{ thingId, name: 'new' }])
    expect(await access.thingOfToken(thingToken)).toBe(thingId)
  })

  it('create() and rename() refuse a name over 200 characters', async () => {
    const { registry } = await openAccess()
    const { thingId } = await registry.create({ name: 'x'.repeat(200) })
    const refused = { reason: 'invalid_body' }
    await expect(registry.create({ name: 'x'.repeat(201) })).rejects.toMatchObject(refused)
    await expect(registry.rename(thingId, 'x'.repeat(201))).rejects.toMatchObject(refused)
    expect((await registry.list({ limit: 10 })).things).toHaveLength(1)
  })

  it('addToken() rotates: both tokens live until the old one is removed', async () => {
    const { access, registry } = await openAccess()
    const { thingId, thingToken } = await registry.create({})
    const [first] = await registry.tokens(thingId)
    const added = await registry.addToken(thingId)
    expect(await access.thingOfToken(thingToken)).toBe(thingId)
    expect(await access.thingOfToken(added.thingToken)).toBe(thingId)
    await registry.removeToken(thingId, first?.tokenId ?? '')
    await expect(access.thingOfToken(thingToken)).rejects.toMatchObject({ reason: 'unknown_thing_token' })
    expect(await access.thingOfToken(added.thingToken)).toBe(thingId)
    expect(await registry.tokens(thingId)).toEqual([
      { tokenId: added.tokenId, createdAt: expect.any(Number), used: true },
    ])
  })

  it('addToken() allows ten live tokens, also when they are asked for at one time', async () => {
    const { registry } = await openAccess()
    const { thingId } = await registry.create({})
    const results = await Promise.allSettled(Array.from({ length: 15 }, () => registry.addToken(thingId)))
    const refused = results.filter(result => result.status === 'rejected')
    expect(refused.map(result => result.reason.reason)).toEqual(Array(6).fill('too_many_tokens'))
    const tokens = await registry.tokens(thingId)
    expect(new Set(tokens.map(token => token.tokenId)).size).toBe(10)
    await registry.removeToken(thingId, tokens[0]?.tokenId ?? '')
    await registry.addToken(thingId)
  })

  it('removeToken() refuses an unknown token id, and that of another thing', async () => {
    const { access, registry } = await openAccess()
    const mine = await registry.create({})
    const other = await registry.create({})
    const [token] = await registry.tokens(other.thingId)
    for (const tokenId of ['', '__proto__', token?.tokenId ?? '']) {
      const refused = registry.removeToken(mine.thingId, tokenId)
      await expect(refused).rejects.toMatchObject({ reason: 'not_found' })
    }
    expect(await access.thingOfToken(other.thingToken)).toBe(other.thingId)
  })

  it('remove() ends every token at once and unlists the thing', async () => {
    const { access, registry, store } = await openAccess()
    const { thingId, thingToken } = await registry.create({})
    const added = await registry.addToken(thingId)
    await access.authorise(thingToken, undefined, 'write')
    await access.authorise(thingId, adminKey, 'write')
    await registry.remove(thingId)
    for (const token of [thingToken, added.thingToken]) {
      const refused = access.authorise(token, undefined, 'write')
      await expect(refused).rejects.toMatchObject({ reason: 'unknown_thing_token' })
    }
    await expect(access.authorise(thingId, adminKey, 'read')).rejects.toMatchObject({
      reason: 'unknown_thing',
    })
    expect((await registry.list({ limit: 10 })).things).toEqual([])
    expect(await store.documents.list('tokens/', { limit: 10 })).toEqual([])
  })

  it('refuses what is asked of an unknown thing', async () => {
    const { registry } = await openAccess()
    const thingId = createThingId()
    const calls = [
      registry.rename(thingId, 'new'),
      registry.remove(thingId),
      registry.addToken(thingId),
      registry.tokens(thingId),
      registry.removeToken(thingId, 'x'),
    ]
    for (const call of await Promise.allSettled(calls)) {
      expect(call).toMatchObject({ status: 'rejected', reason: { reason: 'unknown_thing' } })
    }
  })
})
