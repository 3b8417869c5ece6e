import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Revocation } from '../../../src/access/access.ts'
import { hashToken } from '../../../src/core/token.ts'
import type { StoreDriver } from '../../../src/store/contract.ts'
import { createMemoryStore } from '../../../src/store/memory/index.ts'
import { createGate } from '../../helpers/gate.ts'
import { documentsUnder, openAccess } from '../open-access.ts'

const invalidSession = { reason: 'invalid_session' }

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] }))
afterEach(() => void vi.useRealTimers())

describe('a session whose time is over', () => {
  it('is refused at once, before anybody is told', async () => {
    const { access, registry, sessions } = await openAccess()
    const { thingId } = await registry.create({})
    const { sessionToken, expiresAt } = await sessions.create('*', { access: 'read', expiresIn: 60 })
    const told: Revocation[] = []
    access.onRevoke(revocation => told.push(revocation))
    vi.setSystemTime(expiresAt - 1)
    await access.authorise(thingId, sessionToken, 'read')
    vi.setSystemTime(expiresAt)
    const again = access.authoriseAgain(hashToken(sessionToken), thingId, 'read')
    for (const refused of [again, access.authorise(thingId, sessionToken, 'read')]) {
      await expect(refused).rejects.toMatchObject(invalidSession)
    }
    expect(told).toEqual([])
  })

  it('is told of within a second, once, and leaves nothing', async () => {
    const { access, registry, sessions, store } = await openAccess()
    const { thingId, thingToken } = await registry.create({})
    const terms = { access: 'read', expiresIn: 60 } as const
    const minted = [
      await sessions.create('*', terms),
      await sessions.createForThing(thingId, thingToken, terms),
      await sessions.createForThing(thingId, thingToken, terms),
    ]
    const longer = await sessions.createForThing(thingId, thingToken, { access: 'read' })
    for (const { sessionToken } of [...minted, longer]) await access.identify(sessionToken)
    const told: Revocation[] = []
    access.onRevoke(revocation => told.push(revocation))
    await vi.advanceTimersByTimeAsync(59_999)
    expect(told).toEqual([])
    await vi.advanceTimersByTimeAsync(1_000)
    expect(told).toEqual([
      {
        hashes: new Set(minted.map(({ sessionToken }) => hashToken(sessionToken))),
        principals: new Set(minted.map(({ sessionId }) => `session.${sessionId}`)),
      },
    ])
    const left = await documentsUnder(store.documents, 'sessions/')
    expect(left.map(([name]) => name)).toEqual([`sessions/${longer.sessionId}`])
    expect(await documentsUnder(store.documents, 'tokens/')).toHaveLength(2)
    const [thing] = await documentsUnder(store.documents, 'things/')
    expect(thing?.[1].sessions).toMatchObject([{ sessionId: longer.sessionId }])
    await access.identify(longer.sessionToken)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(told).toHaveLength(1)
  })

  it('is told of and removed, also if nobody has used it since the start', async () => {
    const driver = createMemoryStore()
    const first = await openAccess({ driver })
    const soon = await first.sessions.create('*', { access: 'read', expiresIn: 1 })
    const later = await first.sessions.create('*', { access: 'read', expiresIn: 130 })
    await first.close()
    vi.setSystemTime(Date.now() + 10_000)
    const { access, store } = await openAccess({ driver })
    const told = new Set<string>()
    access.onRevoke(({ principals }) => {
      for (const principal of principals) told.add(principal)
    })
    await vi.advanceTimersByTimeAsync(61_000)
    expect(told).toEqual(new Set([`session.${soon.sessionId}`]))
    await vi.advanceTimersByTimeAsync(60_000)
    expect(told).toEqual(new Set([`session.${soon.sessionId}`, `session.${later.sessionId}`]))
    expect(await documentsUnder(store.documents, 'sessions/')).toEqual([])
    expect(await documentsUnder(store.documents, 'tokens/')).toEqual([])
  })

  it('is told of while the store fails, and removed when it works again', async () => {
    const memory = createMemoryStore()
    let fails = false
    const transact: typeof memory.documents.transact = async (...parts) => {
      if (fails) throw new Error('the disk is gone')
      return await memory.documents.transact(...parts)
    }
    const driver: StoreDriver = { ...memory, documents: { ...memory.documents, transact } }
    const { access, sessions, store } = await openAccess({ driver })
    const { sessionToken, sessionId } = await sessions.create('*', { access: 'read', expiresIn: 1 })
    await access.identify(sessionToken)
    const told: Revocation[] = []
    access.onRevoke(revocation => told.push(revocation))
    fails = true
    await vi.advanceTimersByTimeAsync(2_000)
    expect(told).toMatchObject([{ principals: new Set([`session.${sessionId}`]) }])
    expect(await documentsUnder(store.documents, 'sessions/')).toHaveLength(1)
    fails = false
    await vi.advanceTimersByTimeAsync(61_000)
    expect(await documentsUnder(store.documents, 'sessions/')).toEqual([])
  })

  it('is removed with many others in few commits', async () => {
    const memory = createMemoryStore()
    let commits = 0
    const transact: typeof memory.documents.transact = async (...parts) => {
      commits++
      return await memory.documents.transact(...parts)
    }
    const driver: StoreDriver = { ...memory, documents: { ...memory.documents, transact } }
    const { access, sessions, store } = await openAccess({ driver })
    for (let count = 0; count < 250; count++) {
      const { sessionToken } = await sessions.create('*', { access: 'read', expiresIn: 1 })
      await access.identify(sessionToken)
    }
    commits = 0
    await vi.advanceTimersByTimeAsync(2_000)
    expect(await documentsUnder(store.documents, 'sessions/')).toEqual([])
    expect(commits).toBe(3)
  })
})

describe('a session that is ended while it is being looked up', () => {
  it('is refused', async () => {
    const memory = createMemoryStore()
    const gate = createGate()
    let held = true
    const get: typeof memory.documents.get = async name => {
      const document = await memory.documents.get(name)
      if (held && name.startsWith('sessions/')) {
        held = false
        await gate.pass()
      }
      return document
    }
    const { access, registry, sessions } = await openAccess({
      driver: { ...memory, documents: { ...memory.documents, get } },
    })
    const { thingId } = await registry.create({})
    const { sessionToken, sessionId } = await sessions.create('*', { access: 'write' })
    const asked = access.authorise(thingId, sessionToken, 'write')
    await gate.reached
    await sessions.remove(sessionId)
    gate.open()
    await expect(asked).rejects.toMatchObject(invalidSession)
  })
})
