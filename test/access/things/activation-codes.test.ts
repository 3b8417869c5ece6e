import { describe, expect, it } from 'vitest'
import type { ActivationCodes } from '../../../src/access/index.ts'
import { documentsUnder, openAccess } from '../open-access.ts'

async function createCode(activationCodes: ActivationCodes, uses = 1): Promise<string> {
  const [code = ''] = await activationCodes.create({ count: 1, uses })
  return code
}

const spent = { reason: 'unknown_activation_code' }

describe('ActivationCodes', () => {
  it('create() gives as many different codes as asked for, listed until they are removed', async () => {
    const { activationCodes } = await openAccess()
    const codes = await activationCodes.create({ count: 1_000, uses: 3 })
    expect(new Set(codes).size).toBe(1_000)
    for (const code of codes) expect(code).toMatch(/^[A-Za-z0-9_-]{34}$/)
    const [first = ''] = codes
    await activationCodes.remove(first)
    const listed = await activationCodes.list()
    expect(listed.map(code => code.activationCode).sort()).toEqual(codes.slice(1).sort())
    expect(listed[0]).toMatchObject({ usesLeft: 3, createdAt: expect.any(Number) })
    await expect(activationCodes.activate(first)).rejects.toMatchObject(spent)
    await expect(activationCodes.remove(first)).rejects.toMatchObject({ reason: 'not_found' })
  })

  it('create() refuses counts and uses out of range', async () => {
    const { activationCodes } = await openAccess()
    for (const [count, uses] of [
      [0, 1],
      [1_001, 1],
      [1.5, 1],
      [1, 0],
      [1, 1_000_001],
    ] as const) {
      const refused = activationCodes.create({ count, uses })
      await expect(refused).rejects.toMatchObject({ reason: 'invalid_body' })
    }
    expect(await activationCodes.list()).toEqual([])
  })

  it('activate() and remove() refuse what is no code', async () => {
    const { activationCodes } = await openAccess()
    for (const code of [
      '',
      'x',
      'x'.repeat(34),
      '../things/aaaaaaaaaaaaaaaaaaaaaaaaa',
      'x'.repeat(100_000),
    ]) {
      await expect(activationCodes.activate(code)).rejects.toMatchObject(spent)
      await expect(activationCodes.remove(code)).rejects.toMatchObject({ reason: 'not_found' })
    }
  })

  it('activate() makes a thing whose token works, and its first use ends the code', async () => {
    const { access, activationCodes, registry } = await openAccess()
    const code = await createCode(activationCodes)
    const { thingId, thingToken } = await activationCodes.activate(code)
    expect(await activationCodes.list()).toMatchObject([{ activationCode: code, usesLeft: 0 }])
    expect(await access.thingOfToken(thingToken)).toBe(thingId)
    await expect(activationCodes.activate(code)).rejects.toMatchObject(spent)
    expect(await activationCodes.list()).toEqual([])
    expect(await access.thingOfToken(thingToken)).toBe(thingId)
    expect((await registry.list({ limit: 10 })).things).toMatchObject([{ thingId }])
  })

  it('activate() after a lost answer gives the same thing a fresh token and revokes the unused one', async () => {
    const { access, activationCodes, registry } = await openAccess()
    const code = await createCode(activationCodes)
    const lost = await activationCodes.activate(code)
    const lostToo = await activationCodes.activate(code)
    const kept = await activationCodes.activate(code)
    expect([lostToo.thingId, kept.thingId]).toEqual([lost.thingId, lost.thingId])
    for (const { thingToken } of [lost, lostToo]) {
      await expect(access.thingOfToken(thingToken)).rejects.toMatchObject({ reason: 'unknown_thing_token' })
    }
    expect(await registry.tokens(lost.thingId)).toHaveLength(1)
    expect(await access.thingOfToken(kept.thingToken)).toBe(lost.thingId)
    await expect(activationCodes.activate(code)).rejects.toMatchObject(spent)
    expect((await registry.list({ limit: 10 })).things).toHaveLength(1)
  })

  it('activate() makes one thing of a single-use code, however many call at one time', async () => {
    const { access, activationCodes, registry } = await openAccess()
    const code = await createCode(activationCodes)
    const answers = await Promise.all(Array.from({ length: 20 }, () => activationCodes.activate(code)))
    expect(new Set(answers.map(answer => answer.thingId)).size).toBe(1)
    expect((await registry.list({ limit: 100 })).things).toHaveLength(1)
    const tokens = answers.map(answer => access.thingOfToken(answer.thingToken))
    const live = (await Promise.allSettled(tokens)).filter(result => result.status === 'fulfilled')
    expect(live).toHaveLength(1)
  })

  it('activate() racing the first use of the token leaves the thing with one live token', async () => {
    for (let round = 0; round < 20; round++) {
      const { access, activationCodes, registry } = await openAccess()
      const code = await createCode(activationCodes)
      const first = await activationCodes.activate(code)
      const [use, again] = await Promise.allSettled([
        access.thingOfToken(first.thingToken),
        activationCodes.activate(code),
      ])
      expect(use.status).not.toBe(again.status)
      expect(await registry.tokens(first.thingId)).toHaveLength(1)
    }
  })

  it('activate() makes as many things as a code has uses, one after another', async () => {
    const { access, activationCodes, registry } = await openAccess()
    const code = await createCode(activationCodes, 3)
    for (let use = 1; use <= 3; use++) {
      const { thingId, thingToken } = await activationCodes.activate(code)
      expect(await access.thingOfToken(thingToken)).toBe(thingId)
    }
    await expect(activationCodes.activate(code)).rejects.toMatchObject(spent)
    expect((await registry.list({ limit: 10 })).things).toHaveLength(3)
  })

  it('activate() answers again for the same thing while its token is unused, whatever uses are left', async () => {
    const { access, activationCodes } = await openAccess()
    const code = await createCode(activationCodes, 3)
    const answers = await Promise.all(Array.from({ length: 5 }, () => activationCodes.activate(code)))
    expect(new Set(answers.map(answer => answer.thingId)).size).toBe(1)
    expect(await activationCodes.list()).toMatchObject([{ usesLeft: 2 }])
    const live = await Promise.allSettled(answers.map(({ thingToken }) => access.thingOfToken(thingToken)))
    expect(live.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  it('activate() takes one use for each call while uses are left, also if a token was used', async () => {
    const { access, activationCodes } = await openAccess()
    const code = await createCode(activationCodes, 3)
    const first = await activationCodes.activate(code)
    await access.thingOfToken(first.thingToken)
    expect(await activationCodes.list()).toMatchObject([{ usesLeft: 2 }])
    const second = await activationCodes.activate(code)
    expect(second.thingId).not.toBe(first.thingId)
  })

  it.each(['thing', 'token'])('activate() refuses a spent code whose %s the operator removed', async what => {
    const { activationCodes, registry, store } = await openAccess()
    const code = await createCode(activationCodes)
    const { thingId } = await activationCodes.activate(code)
    const [token] = await registry.tokens(thingId)
    if (what === 'thing') await registry.remove(thingId)
    else await registry.removeToken(thingId, token?.tokenId ?? '')
    await expect(activationCodes.activate(code)).rejects.toMatchObject(spent)
    expect(await documentsUnder(store.documents, 'activation-codes/')).toEqual([])
  })

  it('activate() after a lost answer keeps the tokens that the operator added', async () => {
    const { access, activationCodes, registry } = await openAccess()
    const code = await createCode(activationCodes)
    const { thingId } = await activationCodes.activate(code)
    const added = await registry.addToken(thingId)
    await activationCodes.activate(code)
    expect(await access.thingOfToken(added.thingToken)).toBe(thingId)
    const [fresh, kept] = await registry.tokens(thingId)
    expect([fresh?.used, kept]).toMatchObject([false, { tokenId: added.tokenId, used: true }])
  })
})
