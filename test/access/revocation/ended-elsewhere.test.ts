import { describe, expect, it } from 'vitest'
import { hashToken } from '../../../src/core/token.ts'
import { openNodes } from '../node-of-many.ts'
import { adminKey, createLookupGate } from '../open-access.ts'

const unknownToken = { reason: 'unknown_thing_token' }
const invalidSession = { reason: 'invalid_session' }

describe('what another node has ended', () => {
  it('a token: it is refused, and told of with the sessions that it minted', async () => {
    const { here, there, told, elsewhere } = await openNodes()
    const { thingId, thingToken } = await there.registry.create({})
    const session = await there.sessions.createForThing(thingId, thingToken, { access: 'read' })
    const { thingToken: other } = await there.registry.addToken(thingId)
    for (const token of [thingToken, other]) await here.access.thingOfToken(token)
    await here.access.identify(session.sessionToken)
    const [{ tokenId = '' } = {}] = await there.registry.tokens(thingId)
    await elsewhere(() => there.registry.removeToken(thingId, tokenId))
    await expect(here.access.thingOfToken(thingToken)).rejects.toMatchObject(unknownToken)
    await expect(here.access.identify(session.sessionToken)).rejects.toMatchObject(invalidSession)
    await expect.poll(() => told).toHaveLength(1)
    expect(told[0]).toEqual({
      hashes: new Set([thingToken, session.sessionToken].map(hashToken)),
      principals: new Set([`session.${session.sessionId}`]),
    })
    expect(await here.access.thingOfToken(other)).toBe(thingId)
  })

  it('a session', async () => {
    const { here, there, told, elsewhere } = await openNodes()
    const { sessionToken, sessionId } = await there.sessions.create('*', { access: 'read' })
    await here.access.identify(sessionToken)
    await elsewhere(() => there.sessions.remove(sessionId))
    await expect(here.access.identify(sessionToken)).rejects.toMatchObject(invalidSession)
    await expect.poll(() => told).toHaveLength(1)
    expect(told[0]).toEqual({
      hashes: new Set([hashToken(sessionToken)]),
      principals: new Set([`session.${sessionId}`]),
    })
  })

  it('a thing: its id is unknown to the admin and to sessions, and its tokens are dead', async () => {
    const { here, there, told, elsewhere } = await openNodes()
    const { thingId, thingToken } = await there.registry.create({})
    const { sessionToken } = await there.sessions.create('*', { access: 'read' })
    for (const credential of [adminKey, sessionToken, thingToken]) {
      await here.access.authorise(thingId, credential, 'read')
    }
    await elsewhere(() => there.registry.remove(thingId))
    for (const credential of [adminKey, sessionToken]) {
      const refused = here.access.authorise(thingId, credential, 'read')
      await expect(refused).rejects.toMatchObject({ reason: 'unknown_thing' })
    }
    await expect(here.access.thingOfToken(thingToken)).rejects.toMatchObject(unknownToken)
    await expect.poll(() => told).toHaveLength(1)
    expect(told[0]).toEqual({
      hashes: new Set([hashToken(thingToken)]),
      principals: new Set([`thing.${thingId}`]),
    })
  })

  it('is told only where something has ended', async () => {
    const { there, told, elsewhere } = await openNodes()
    await elsewhere(async () => {
      const { thingId, thingToken } = await there.registry.create({})
      await there.registry.rename(thingId, 'pump')
      await there.access.thingOfToken(thingToken)
    })
    const { sessionId } = await there.sessions.create('*', { access: 'read' })
    await elsewhere(() => there.sessions.remove(sessionId))
    await expect.poll(() => told).toMatchObject([{ principals: new Set([`session.${sessionId}`]) }])
  })

  it('while its token is being looked up: the old answer is not taken', async () => {
    const gate = createLookupGate()
    const { here, there, elsewhere } = await openNodes(gate.intercept)
    const { thingId, thingToken } = await there.registry.create({})
    await there.access.thingOfToken(thingToken)
    gate.hold()
    const asked = here.access.thingOfToken(thingToken)
    await gate.reached
    await elsewhere(() => there.registry.remove(thingId))
    gate.open()
    await expect(asked).rejects.toMatchObject(unknownToken)
  })

  it('is found out as soon as the store can be asked', async () => {
    let failures = 0
    const { here, there, told, elsewhere } = await openNodes(driver => ({
      ...driver,
      documents: {
        ...driver.documents,
        get: async name => {
          if (failures > 0 && failures--) throw new Error('the store is away')
          return await driver.documents.get(name)
        },
      },
    }))
    const { sessionToken, sessionId } = await there.sessions.create('*', { access: 'read' })
    await here.access.identify(sessionToken)
    await elsewhere(async () => {
      await there.sessions.remove(sessionId)
      failures = 1
    })
    await expect.poll(() => told).toHaveLength(1)
    expect(failures).toBe(0)
  })

  it('or may have, where changes were missed: everything is asked for again, and all is told', async () => {
    const { here, there, told } = await openNodes()
    const [kept, removed] = [await there.registry.create({}), await there.registry.create({})]
    for (const { thingToken } of [kept, removed]) await here.access.thingOfToken(thingToken)
    await here.access.authorise(removed.thingId, adminKey, 'read')
    await there.registry.remove(removed.thingId)
    here.tell(undefined)
    await expect(here.access.thingOfToken(removed.thingToken)).rejects.toMatchObject(unknownToken)
    const refused = here.access.authorise(removed.thingId, adminKey, 'read')
    await expect(refused).rejects.toMatchObject({ reason: 'unknown_thing' })
    expect(await here.access.thingOfToken(kept.thingToken)).toBe(kept.thingId)
    expect(told).toEqual([{ hashes: new Set(), principals: new Set(), all: true }])
  })
})

describe('what this node has ended without knowing', () => {
  it('because the answer of the store was lost, is told and refused all the same', async () => {
    let loses = false
    const { here, told } = await openNodes(driver => ({
      ...driver,
      documents: {
        ...driver.documents,
        transact: async (...change) => {
          const result = await driver.documents.transact(...change)
          if (loses) throw new Error('the connection is gone')
          return result
        },
      },
    }))
    const { thingId, thingToken } = await here.registry.create({})
    await here.access.thingOfToken(thingToken)
    const [{ tokenId = '' } = {}] = await here.registry.tokens(thingId)
    loses = true
    await expect(here.registry.removeToken(thingId, tokenId)).rejects.toThrow()
    loses = false
    await expect(here.access.thingOfToken(thingToken)).rejects.toMatchObject(unknownToken)
    await expect.poll(() => told).toMatchObject([{ hashes: new Set([hashToken(thingToken)]) }])
  })
})
