import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Revocation } from '../../../src/access/access.ts'
import { createThingId, createToken, hashToken } from '../../../src/core/token.ts'
import { adminKey, documentsUnder, type OpenAccess, openAccess } from '../open-access.ts'

const day = 24 * 3_600
const read = { access: 'read' } as const
const invalidSession = { reason: 'invalid_session' }

afterEach(() => {
  vi.useRealTimers()
})

/** Ids of the sessions that were told to be over, in order. */
function toldBy({ access }: Pick<OpenAccess, 'access'>) {
  const told: Revocation[] = []
  access.onRevoke(revocation => told.push(revocation))
  return {
    told,
    principals: () => told.flatMap(({ principals }) => [...principals]),
    hashes: () => told.flatMap(({ hashes }) => [...hashes]),
  }
}

async function isLive({ access }: OpenAccess, token: string): Promise<boolean> {
  return await access.identify(token).then(
    () => true,
    () => false,
  )
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await Promise.resolve()
}

describe('AccessSessionRegistry.create()', () => {
  it('mints a session for the things that are named, or for all', async () => {
    const { access, registry, sessions } = await openAccess()
    const { thingId } = await registry.create({})
    const some = await sessions.create([thingId, thingId], { access: 'write' })
    expect(await access.identify(some.sessionToken)).toEqual({
      kind: 'session',
      sessionId: some.sessionId,
      things: new Set([thingId]),
      access: 'write',
      isOperators: true,
      expiresAt: some.expiresAt,
    })
    const all = await sessions.create('*', read)
    expect(await access.identify(all.sessionToken)).toMatchObject({ things: '*', access: 'read' })
    expect(some.sessionToken).toMatch(/^[\w-]{43}$/)
    expect(some.sessionId).toMatch(/^[0-9a-f]{18}$/)
  })

  it('lets a session last a day, or as long as said, up to 366 days', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { sessions } = await openAccess()
    const lifetime = async (terms: { expiresIn?: number }) =>
      (await sessions.create('*', { ...read, ...terms })).expiresAt - Date.now()
    expect(await lifetime({})).toBe(day * 1_000)
    expect(await lifetime({ expiresIn: 1 })).toBe(1_000)
    expect(await lifetime({ expiresIn: 366 * day })).toBe(366 * day * 1_000)
  })

  it('refuses lifetimes and things that cannot be', async () => {
    const { registry, sessions } = await openAccess()
    const { thingId } = await registry.create({})
    for (const expiresIn of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 366 * day + 1]) {
      const refused = sessions.create('*', { ...read, expiresIn })
      await expect(refused).rejects.toMatchObject({ reason: 'invalid_body' })
    }
    const many = Array.from({ length: 1_001 }, createThingId)
    for (const things of [[], ['x'], [thingId, '../things'], many]) {
      await expect(sessions.create(things, read)).rejects.toMatchObject({ reason: 'invalid_body' })
    }
    const unknown = sessions.create([thingId, createThingId()], read)
    await expect(unknown).rejects.toMatchObject({ reason: 'unknown_thing' })
    expect(await sessions.list({ limit: 10 })).toEqual({ sessions: [] })
  })

  it('keeps the hash of the token alone', async () => {
    const { sessions, store } = await openAccess()
    const { sessionToken, sessionId } = await sessions.create('*', read)
    const documents = JSON.stringify(await documentsUnder(store.documents, ''))
    expect(documents).not.toContain(sessionToken)
    expect(documents).toContain(hashToken(sessionToken))
    expect(await documentsUnder(store.documents, `sessions/${sessionId}`)).toHaveLength(1)
  })
})

describe('AccessSessionRegistry.createForThing()', () => {
  it('mints by the token of the thing a session that can do no more than the thing', async () => {
    const opened = await openAccess()
    const { access, registry, sessions } = opened
    const { thingId, thingToken } = await registry.create({})
    const { sessionToken } = await sessions.createForThing(thingId, thingToken, { access: 'write' })
    expect(await access.identify(sessionToken)).toMatchObject({
      things: new Set([thingId]),
      isOperators: false,
    })
    await access.authorise(thingId, sessionToken, 'write')
    const refused = access.authorise(thingId, sessionToken, 'delete')
    await expect(refused).rejects.toMatchObject({ reason: 'forbidden' })
  })

  it("mints by the admin key an operator's session", async () => {
    const { access, registry, sessions } = await openAccess()
    const { thingId } = await registry.create({})
    const { sessionToken } = await sessions.createForThing(thingId, adminKey, { access: 'write' })
    expect(await access.authorise(thingId, sessionToken, 'delete')).toBe(thingId)
  })

  it('refuses each wrong credential for its own reason', async () => {
    const { registry, sessions } = await openAccess()
    const mine = await registry.create({})
    const other = await registry.create({})
    const session = await sessions.create('*', { access: 'write' })
    const cases = [
      ['', 'missing_credential'],
      [createToken(), 'invalid_session'],
      [session.sessionToken, 'forbidden'],
      [other.thingToken, 'forbidden'],
    ] as const
    for (const [credential, reason] of cases) {
      const refused = sessions.createForThing(mine.thingId, credential, read)
      await expect(refused).rejects.toMatchObject({ reason })
    }
    const unknown = sessions.createForThing(createThingId(), adminKey, read)
    await expect(unknown).rejects.toMatchObject({ reason: 'unknown_thing' })
    const long = sessions.createForThing(mine.thingId, mine.thingToken, { ...read, expiresIn: 30 * day + 1 })
    await expect(long).rejects.toMatchObject({ reason: 'invalid_body' })
    await sessions.createForThing(mine.thingId, mine.thingToken, { ...read, expiresIn: 30 * day })
  })

  it('allows a thing 100 that live, also when they are asked for at one time', async () => {
    const { registry, sessions } = await openAccess()
    const { thingId, thingToken } = await registry.create({})
    const asked = Array.from({ length: 110 }, (_, index) =>
      sessions.createForThing(thingId, index % 2 === 0 ? thingToken : adminKey, read),
    )
    const refused = (await Promise.allSettled(asked)).filter(result => result.status === 'rejected')
    expect(refused.map(result => result.reason.reason)).toEqual(Array(10).fill('too_many_sessions'))
    const { sessions: live } = await sessions.list({ limit: 1_000 })
    expect(live).toHaveLength(100)
    await sessions.remove(live[0]?.sessionId ?? '')
    await sessions.createForThing(thingId, thingToken, read)
    const other = await registry.create({})
    await sessions.createForThing(other.thingId, other.thingToken, read)
  })

  it('makes room where sessions are over, removes them, and tells of them', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { access, registry, sessions, store } = await openAccess()
    const { told, principals } = toldBy({ access })
    const { thingId, thingToken } = await registry.create({})
    const mint = async () => await sessions.createForThing(thingId, thingToken, { ...read, expiresIn: 10 })
    const old = await Promise.all(Array.from({ length: 100 }, mint))
    vi.setSystemTime(Date.now() + 10_000)
    expect(told).toEqual([])
    const fresh = await mint()
    expect(principals().sort()).toEqual(old.map(({ sessionId }) => `session.${sessionId}`).sort())
    expect(await documentsUnder(store.documents, 'sessions/')).toMatchObject([
      [`sessions/${fresh.sessionId}`, {}],
    ])
  })

  it.each(['removeToken', 'remove'] as const)(
    'leaves no live session when it races registry.%s()',
    async method => {
      for (let round = 0; round < 30; round++) {
        const opened = await openAccess()
        const { access, registry, sessions, store } = opened
        const { thingId, thingToken } = await registry.create({})
        await access.thingOfToken(thingToken)
        const tokenId = (await registry.tokens(thingId))[0]?.tokenId ?? ''
        // At each place among the steps of the other.
        const minted = Array.from({ length: 5 }, async (_, index) => {
          await turns((round + index * 7) % 30)
          return await sessions.createForThing(thingId, thingToken, read)
        })
        await turns(15)
        await (method === 'remove' ? registry.remove(thingId) : registry.removeToken(thingId, tokenId))
        for (const result of await Promise.allSettled(minted)) {
          if (result.status === 'rejected') continue
          expect(await isLive(opened, result.value.sessionToken)).toBe(false)
        }
        expect(await documentsUnder(store.documents, 'sessions/')).toEqual([])
        expect(await documentsUnder(store.documents, 'tokens/')).toEqual([])
      }
    },
  )
})

describe('AccessSessionRegistry.list() and get()', () => {
  it('show every session that is not over, in pages, without its secret', async () => {
    const { registry, sessions } = await openAccess()
    const { thingId, thingToken } = await registry.create({})
    const minted = [
      await sessions.create('*', read),
      await sessions.create([thingId], { access: 'write' }),
      await sessions.createForThing(thingId, thingToken, read),
      await sessions.createForThing(thingId, adminKey, read),
      await sessions.create('*', read),
    ]
    const first = await sessions.list({ limit: 3 })
    const second = await sessions.list({ limit: 3, cursor: first.next ?? '' })
    expect([first.sessions.length, second.sessions.length, second.next]).toEqual([3, 2, undefined])
    const all = [...first.sessions, ...second.sessions]
    expect(all.map(({ sessionId }) => sessionId)).toEqual(minted.map(({ sessionId }) => sessionId).sort())
    const ofThing = all.find(({ sessionId }) => sessionId === minted[2]?.sessionId)
    expect(ofThing).toEqual({
      sessionId: minted[2]?.sessionId,
      things: [thingId],
      access: 'read',
      createdAt: expect.any(Number),
      expiresAt: minted[2]?.expiresAt,
      isOperators: false,
    })
    expect(await sessions.get(minted[2]?.sessionId ?? '')).toEqual(ofThing)
    expect(all.filter(({ isOperators }) => isOperators)).toHaveLength(4)
  })

  it('show none that is over', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { sessions } = await openAccess()
    const { sessionId } = await sessions.create('*', { ...read, expiresIn: 1 })
    await sessions.get(sessionId)
    vi.setSystemTime(Date.now() + 1_000)
    expect(await sessions.list({ limit: 10 })).toEqual({ sessions: [] })
    await expect(sessions.get(sessionId)).rejects.toMatchObject({ reason: 'not_found' })
  })

  it('refuse what was never given out', async () => {
    const { sessions } = await openAccess()
    for (const cursor of ['', 'x', '../../things', '0'.repeat(17)]) {
      const refused = sessions.list({ limit: 1, cursor })
      await expect(refused).rejects.toMatchObject({ reason: 'invalid_cursor' })
    }
    for (const sessionId of ['', 'x', '../things/x', '0'.repeat(16)]) {
      await expect(sessions.get(sessionId)).rejects.toMatchObject({ reason: 'not_found' })
      await expect(sessions.remove(sessionId)).rejects.toMatchObject({ reason: 'not_found' })
    }
  })
})

describe('AccessSessionRegistry.remove()', () => {
  it('ends a session at once, tells of it, and leaves nothing of it', async () => {
    const opened = await openAccess()
    const { registry, sessions, store } = opened
    const { thingId, thingToken } = await registry.create({})
    const { sessionToken, sessionId } = await sessions.createForThing(thingId, thingToken, read)
    expect(await isLive(opened, sessionToken)).toBe(true)
    const { principals, hashes } = toldBy(opened)
    await sessions.remove(sessionId)
    await expect(opened.access.identify(sessionToken)).rejects.toMatchObject(invalidSession)
    expect([principals(), hashes()]).toEqual([[`session.${sessionId}`], [hashToken(sessionToken)]])
    expect(await documentsUnder(store.documents, 'sessions/')).toEqual([])
    expect(await documentsUnder(store.documents, 'tokens/')).toHaveLength(1)
    expect(await documentsUnder(store.documents, 'things/')).toMatchObject([
      [`things/${thingId}`, { sessions: [] }],
    ])
    await expect(sessions.remove(sessionId)).rejects.toMatchObject({ reason: 'not_found' })
  })
})

describe('rotation', () => {
  it('ends the sessions that the removed token minted, and no other', async () => {
    const opened = await openAccess()
    const { access, registry, sessions } = opened
    const { thingId, thingToken } = await registry.create({})
    const [old] = await registry.tokens(thingId)
    const added = await registry.addToken(thingId)
    const byOld = await sessions.createForThing(thingId, thingToken, read)
    const byNew = await sessions.createForThing(thingId, added.thingToken, read)
    const byAdmin = await sessions.createForThing(thingId, adminKey, read)
    const operators = await sessions.create([thingId], read)
    for (const { sessionToken } of [byOld, byNew, byAdmin, operators]) await access.identify(sessionToken)
    const { told } = toldBy(opened)
    await registry.removeToken(thingId, old?.tokenId ?? '')
    const live = [byOld, byNew, byAdmin, operators].map(({ sessionToken }) => isLive(opened, sessionToken))
    expect(await Promise.all(live)).toEqual([false, true, true, true])
    expect(told).toEqual([
      {
        hashes: new Set([hashToken(thingToken), hashToken(byOld.sessionToken)]),
        principals: new Set([`session.${byOld.sessionId}`]),
      },
    ])
    const { sessions: listed } = await sessions.list({ limit: 10 })
    expect(listed).toHaveLength(3)
  })

  it('ends with the thing every token, every session that was minted for it, and access by all others', async () => {
    const opened = await openAccess()
    const { access, registry, sessions } = opened
    const { thingId, thingToken } = await registry.create({})
    const other = await registry.create({})
    const minted = [
      await sessions.createForThing(thingId, thingToken, read),
      await sessions.createForThing(thingId, adminKey, read),
    ]
    const operators = await sessions.create([thingId, other.thingId], read)
    await access.authorise(thingId, operators.sessionToken, 'read')
    const { told } = toldBy(opened)
    await registry.remove(thingId)
    for (const { sessionToken } of minted) expect(await isLive(opened, sessionToken)).toBe(false)
    const refused = access.authorise(thingId, operators.sessionToken, 'read')
    await expect(refused).rejects.toMatchObject({ reason: 'unknown_thing' })
    expect(await access.authorise(other.thingId, operators.sessionToken, 'read')).toBe(other.thingId)
    const hashes = [thingToken, ...minted.map(({ sessionToken }) => sessionToken)].map(hashToken)
    const principals = [...minted.map(({ sessionId }) => `session.${sessionId}`), `thing.${thingId}`]
    expect(told).toEqual([{ hashes: new Set(hashes), principals: new Set(principals) }])
  })
})
