import { afterEach, describe, expect, it, vi } from 'vitest'
import type { ThingsParts } from '../../../src/things.ts'
import { adminKey, type ListeningHost, listeningHost, openHost, reasonOf } from '../host.ts'
import { openStream } from '../stream-client.ts'

const forms = ['application/json', 'text/event-stream'] as const

afterEach(() => {
  vi.useRealTimers()
})

async function removeFirstToken({ things, thingId }: ListeningHost): Promise<void> {
  const [token] = await things.registry.tokens(thingId)
  await things.registry.removeToken(thingId, token?.tokenId ?? '')
}

const removeThing = async ({ things, thingId }: ListeningHost) => await things.registry.remove(thingId)

type Opening = Readonly<{ ref: string; header?: string; session?: string }>

/** How a stream was opened, and what ends it. */
const ends: readonly [
  string,
  (host: ListeningHost) => Promise<{ opening: Opening; end: () => Promise<void> }>,
][] = [
  [
    'its token in the path, and that is removed',
    async host => ({ opening: { ref: host.thingToken }, end: () => removeFirstToken(host) }),
  ],
  [
    'its token as Authorization, and that is removed',
    async host => ({
      opening: { ref: host.thingId, header: host.thingToken },
      end: () => removeFirstToken(host),
    }),
  ],
  [
    'its token in the path, and the thing is removed',
    async host => ({ opening: { ref: host.thingToken }, end: () => removeThing(host) }),
  ],
  [
    'the admin key, and the thing is removed',
    async host => ({ opening: { ref: host.thingId, header: adminKey }, end: () => removeThing(host) }),
  ],
  [
    "an operator's session, and the thing is removed",
    async host => {
      const { sessionToken } = await host.things.sessions.create('*', { access: 'read' })
      return { opening: { ref: host.thingId, session: sessionToken }, end: () => removeThing(host) }
    },
  ],
  [
    'a session as ?session=, and that is removed',
    async host => {
      const { sessionToken, sessionId } = await host.things.sessions.create('*', { access: 'read' })
      const end = () => host.things.sessions.remove(sessionId)
      return { opening: { ref: host.thingId, session: sessionToken }, end }
    },
  ],
  [
    'a session as Authorization, and the token that minted it is removed',
    async host => {
      const { thingId, thingToken, things } = host
      const { sessionToken } = await things.sessions.createForThing(thingId, thingToken, { access: 'read' })
      return { opening: { ref: thingId, header: sessionToken }, end: () => removeFirstToken(host) }
    },
  ],
  [
    'a session, and its time is over',
    async host => {
      const terms = { access: 'read', expiresIn: 5 } as const
      const { sessionToken } = await host.things.sessions.create([host.thingId], terms)
      return { opening: { ref: host.thingId, session: sessionToken }, end: async () => {} }
    },
  ],
]

async function open({ url, thingToken }: ListeningHost, { ref, header, session }: Opening, accept: string) {
  const query = session === undefined ? '' : `?session=${session}`
  const headers = header === undefined ? { accept } : { accept, authorization: `Bearer ${header}` }
  return await openStream(url.replace(thingToken, ref) + query, headers)
}

describe.each(forms)('a stream of %s', accept => {
  it.each(ends)('is cut that was opened with %s', async (_case, prepare) => {
    const host = await listeningHost()
    const { opening, end } = await prepare(host)
    const stream = await open(host, opening, accept)
    await stream.next()
    await end()
    expect(await stream.closed).toBe('cut')
    const again = await open(host, opening, accept)
    expect(await again.head()).toMatch(/^HTTP\/1\.1 40[14] /)
  })

  it('goes on when another credential of the thing, or another thing, comes to its end', async () => {
    const host = await listeningHost()
    const { things, thingId, thingToken } = host
    const other = await things.registry.create({})
    const added = await things.registry.addToken(thingId)
    const { sessions } = things
    const kept = await sessions.createForThing(thingId, added.thingToken, { access: 'read' })
    const ended = await sessions.createForThing(thingId, thingToken, { access: 'read' })
    const streams = [
      await open(host, { ref: added.thingToken }, accept),
      await open(host, { ref: thingId, header: adminKey }, accept),
      await open(host, { ref: thingId, session: kept.sessionToken }, accept),
    ]
    const cut = await open(host, { ref: thingId, session: ended.sessionToken }, accept)
    for (const stream of [...streams, cut]) await stream.next()
    await things.registry.remove(other.thingId)
    await removeFirstToken(host)
    expect(await cut.closed).toBe('cut')
    const body = { values: [{ key: 'k', value: 'still here' }] }
    const url = `/v2/things/${added.thingToken}`
    expect((await host.inject({ method: 'POST', url, body })).statusCode).toBe(201)
    for (const stream of streams) expect(await stream.next()).toContain('still here')
  })

  it('does not begin with a credential that ends while it is being opened', async () => {
    let end = async () => {}
    const alter = (things: ThingsParts) => ({
      ...things,
      access: {
        ...things.access,
        authorise: async (...parts: Parameters<ThingsParts['access']['authorise']>) => {
          const thingId = await things.access.authorise(...parts)
          await end()
          return thingId
        },
      },
    })
    const host = await openHost({ alter })
    const { things, thingId, inject } = host
    const asked = async (opening: Opening) => {
      const { ref, header = '', session = '' } = opening
      const headers = { accept, authorization: header }
      return reasonOf(await inject({ url: `/v2/things/${ref}?session=${session}`, headers }))
    }
    const { sessionToken, sessionId } = await things.sessions.create('*', { access: 'read' })
    end = () => things.sessions.remove(sessionId)
    expect(await asked({ ref: thingId, session: sessionToken })).toBe('invalid_session')
    const added = await things.registry.addToken(thingId)
    end = () => things.registry.removeToken(thingId, added.tokenId)
    expect(await asked({ ref: added.thingToken })).toBe('unknown_thing_token')
    end = () => things.registry.remove(thingId)
    expect(await asked({ ref: thingId, header: adminKey })).toBe('unknown_thing')
  })

  it('leaves no listener behind, however it ends', async () => {
    let listeners = 0
    const alter = (things: ThingsParts) => ({
      ...things,
      access: {
        ...things.access,
        onRevoke: (listener: Parameters<ThingsParts['access']['onRevoke']>[0]) => {
          listeners++
          const stop = things.access.onRevoke(listener)
          return () => {
            listeners--
            stop()
          }
        },
      },
    })
    const host = await listeningHost(undefined, { alter })
    const { things, thingId, url, app } = host
    const { sessionToken, sessionId } = await things.sessions.create('*', { access: 'read' })
    const gone: Promise<unknown>[] = []
    app.server.on('connection', socket => gone.push(new Promise(resolve => socket.once('close', resolve))))
    const cut = await open(host, { ref: thingId, session: sessionToken }, accept)
    const left = await open(host, { ref: thingId, session: sessionToken }, accept)
    for (const stream of [cut, left]) await stream.next()
    expect(listeners).toBe(2)
    await left.destroy()
    await things.sessions.remove(sessionId)
    await cut.closed
    await Promise.all(gone)
    expect((await host.inject({ method: 'HEAD', url: host.path, headers: { accept } })).statusCode).toBe(200)
    expect((await host.inject({ url: `${host.path}?keepAlive=0`, headers: { accept } })).statusCode).toBe(400)
    expect((await fetch(url.replace(host.thingToken, 'x'.repeat(43)))).status).toBe(401)
    expect(listeners).toBe(0)
  })
})
