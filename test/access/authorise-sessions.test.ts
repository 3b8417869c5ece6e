import { describe, expect, it } from 'vitest'
import type { Action } from '../../src/access/access.ts'
import { principalName } from '../../src/access/principal.ts'
import { createThingId, hashToken } from '../../src/core/token.ts'
import { adminKey, openAccess } from './open-access.ts'

const actions: readonly Action[] = ['write', 'read', 'read refused writes', 'delete', 'mint a session']

/** What each kind of session may do with a thing that it may see (contract §6). */
const allowed = {
  "operator's read": ['read'],
  "operator's write": ['write', 'read', 'read refused writes', 'delete'],
  "thing's read": ['read'],
  "thing's write": ['write', 'read', 'read refused writes'],
} as const satisfies Record<string, readonly Action[]>

async function openWithSessions(allowThingDelete = false) {
  const opened = await openAccess({ allowThingDelete })
  const { registry, sessions } = opened
  const { thingId, thingToken } = await registry.create({})
  const other = await registry.create({})
  const tokens = {
    "operator's read": (await sessions.create([thingId], { access: 'read' })).sessionToken,
    "operator's write": (await sessions.create([thingId], { access: 'write' })).sessionToken,
    "thing's read": (await sessions.createForThing(thingId, thingToken, { access: 'read' })).sessionToken,
    "thing's write": (await sessions.createForThing(thingId, thingToken, { access: 'write' })).sessionToken,
  }
  return { ...opened, thingId, thingToken, other, tokens }
}

type Opened = Awaited<ReturnType<typeof openWithSessions>>

const kinds = Object.keys(allowed) as (keyof typeof allowed)[]

describe('authorise() with a session', () => {
  it.each(kinds)('lets a session of kind %s do what it may, and nothing with other things', async kind => {
    const { access, thingId, other, tokens } = await openWithSessions()
    const token = tokens[kind]
    const may: readonly Action[] = allowed[kind]
    for (const action of actions) {
      const asked = access.authorise(thingId, token, action)
      if (may.includes(action)) expect(await asked).toBe(thingId)
      else await expect(asked).rejects.toMatchObject({ reason: 'forbidden' })
      for (const id of [other.thingId, createThingId()]) {
        const refused = access.authorise(id, token, action)
        await expect(refused).rejects.toMatchObject({ reason: 'forbidden' })
      }
      const again = access.authoriseAgain(hashToken(token), thingId, action)
      if (may.includes(action)) await again
      else await expect(again).rejects.toMatchObject({ reason: 'forbidden' })
    }
  })

  it("lets a thing's write session delete where the thing may", async () => {
    const { access, thingId, tokens } = await openWithSessions(true)
    expect(await access.authorise(thingId, tokens["thing's write"], 'delete')).toBe(thingId)
    const refused = access.authorise(thingId, tokens["thing's read"], 'delete')
    await expect(refused).rejects.toMatchObject({ reason: 'forbidden' })
  })

  it('lets a session of all things at those to come, and at none that there is not', async () => {
    const { access, registry, sessions } = await openWithSessions()
    const { sessionToken } = await sessions.create('*', { access: 'read' })
    const late = await registry.create({})
    expect(await access.authorise(late.thingId, sessionToken, 'read')).toBe(late.thingId)
    const refused = access.authorise(createThingId(), sessionToken, 'read')
    await expect(refused).rejects.toMatchObject({ reason: 'unknown_thing' })
  })

  it('takes it neither as <ref>, nor for the token of a thing, nor for the admin key', async () => {
    const { access, tokens, thingToken } = await openWithSessions()
    for (const token of Object.values(tokens)) {
      const asRef = access.authorise(token, thingToken, 'read')
      await expect(asRef).rejects.toMatchObject({ reason: 'unknown_thing_token' })
      await expect(access.thingOfToken(token)).rejects.toMatchObject({ reason: 'unknown_thing_token' })
      await expect(access.authoriseAdmin(token)).rejects.toMatchObject({ reason: 'forbidden' })
    }
  })

  it.each<[what: string, ask: (opened: Opened) => unknown, RegExp]>([
    [
      'a session that may only read, of a write',
      ({ access, thingId, tokens }) => access.authorise(thingId, tokens["operator's read"], 'write'),
      /^session [0-9a-f]{18} may only read: `thingwire sessions create --write` /,
    ],
    [
      'a session of another thing',
      ({ access, other, tokens }) => access.authorise(other.thingId, tokens["operator's write"], 'read'),
      /^session [0-9a-f]{18} is not for this thing: use the token of the thing, a session for it, or /,
    ],
    [
      'a session where the admin key belongs',
      ({ access, tokens }) => access.authoriseAdmin(tokens["operator's write"]),
      /^only the admin key may do this, but this is session [0-9a-f]{18}$/,
    ],
    [
      'the token of a thing where the admin key belongs',
      ({ access, thingToken }) => access.authoriseAdmin(thingToken),
      /^only the admin key may do this, but this is the token of a thing$/,
    ],
    [
      'the token of another thing',
      ({ access, thingId, other }) => access.authorise(thingId, other.thingToken, 'read'),
      /^the token of a thing is not for this thing: use the token of the thing, /,
    ],
    [
      'a session that is to make a session',
      ({ access, thingId, tokens }) =>
        access.authorise(thingId, tokens["operator's write"], 'mint a session'),
      /^only the token of the thing or the admin key can create a session for a thing$/,
    ],
    [
      'a session that is to make a session, of a host',
      ({ sessions, thingId, tokens }) =>
        sessions.createForThing(thingId, tokens["operator's write"], { access: 'read' }),
      /^only the token of the thing or the admin key can create /,
    ],
    [
      'the token of another thing that is to make a session, of a host',
      ({ sessions, thingId, other }) =>
        sessions.createForThing(thingId, other.thingToken, { access: 'read' }),
      /^only the token of the thing or the admin key can create /,
    ],
    [
      'a thing that is to remove records',
      ({ access, thingToken }) => access.authorise(thingToken, undefined, 'delete'),
      /^a thing may not remove records: the admin key and an operator's write session may, .*allowThingDelete is set$/,
    ],
    [
      'a session in the place of a thing',
      ({ access, tokens }) => access.authorise(tokens["thing's write"], undefined, 'write'),
      /^no thing has this token: it is session [0-9a-f]{18}, which goes into the Authorization header or the MQTT password, with the id of the thing in the path or topic$/,
    ],
    [
      'the admin key in the place of a thing',
      ({ access }) => access.authorise(adminKey, undefined, 'write'),
      /^no thing has this token: it is the admin key, which goes into the Authorization header /,
    ],
    [
      'an id where a token belongs',
      ({ access, thingId }) => access.thingOfToken(thingId),
      /^no thing has this token: it is spelled like the id of a thing, which is public$/,
    ],
    [
      'an id as credential',
      ({ access, thingId }) => access.authorise(thingId, thingId, 'write'),
      /^the credential is unknown: it is spelled like the id of a thing, /,
    ],
    [
      'an activation code as credential',
      ({ access, thingId }) => access.authorise(thingId, 'x'.repeat(34), 'write'),
      /^the credential is unknown: it is spelled like an activation code, which gives a token /,
    ],
    [
      'an activation code in the place of a thing',
      ({ access }) => access.authorise('x'.repeat(34), undefined, 'write'),
      /^a thing is named by its token .*: it is spelled like an activation code, /,
    ],
    [
      'a name in the place of a thing',
      ({ access }) => access.authorise('boat', adminKey, 'write'),
      /^a thing is named by its token \(43 characters\) or its id \(16 of a-z and 2-7\)$/,
    ],
  ])('says what %s is, and what belongs there, without the credential', async (_what, ask, text) => {
    const opened = await openWithSessions()
    const { message } = await Promise.resolve(ask(opened)).then(
      () => new Error('it is allowed'),
      (error: Error) => error,
    )
    expect(message).toMatch(text)
    const { thingToken, other, tokens } = opened
    for (const secret of [adminKey, thingToken, other.thingToken, ...Object.values(tokens)])
      expect(message).not.toContain(secret.slice(0, 20))
  })

  it('does not confirm an admin key in the place of a thing by a refusal that is no failed credential', async () => {
    const key = 'k'.repeat(64)
    const { access } = await openAccess({ key })
    const refusal = async (ref: string) => await access.authorise(ref, undefined, 'write')
    const [right, wrong] = await Promise.allSettled([key, 'w'.repeat(64)].map(refusal))
    expect(right).toMatchObject({ status: 'rejected', reason: { reason: 'not_found' } })
    expect(right).toEqual(wrong)
  })

  it('does not count as the thing being seen', async () => {
    const { access, registry, thingId, tokens } = await openWithSessions()
    const lastSeen = async () => {
      const { things } = await registry.list({ limit: 10 })
      return things.find(thing => thing.thingId === thingId)?.lastSeen
    }
    const before = await lastSeen()
    const start = performance.now()
    while (performance.now() - start < 2) await access.authorise(thingId, tokens["thing's write"], 'write')
    await access.authorise(thingId, tokens["operator's write"], 'write')
    expect(await lastSeen()).toBe(before)
  })
})

describe('principalName()', () => {
  it('is the same for every credential of a principal, and holds no secret', async () => {
    const { access, registry, thingId, thingToken, tokens } = await openWithSessions()
    const added = await registry.addToken(thingId)
    const nameOf = async (credential: string) => principalName(await access.identify(credential))
    expect(await nameOf(thingToken)).toBe(`thing.${thingId}`)
    expect(await nameOf(added.thingToken)).toBe(`thing.${thingId}`)
    expect(await nameOf(tokens["thing's read"])).toMatch(/^session\.[0-9a-f]{18}$/)
    expect(await nameOf(adminKey)).toBe('admin')
  })
})
