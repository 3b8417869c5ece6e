import { expect } from 'vitest'
import { StreamClient } from '../http/stream-client.ts'
import { ask, later, writeValue } from './clients.ts'
import { isolationTests, type World } from './world.ts'

/** Several requests, or one that lasts. */

const { http } = isolationTests()

http("another thing is in no list of one's own", async world => {
  const { victim, own } = world.cast
  const paths = [
    '/v2/things?limit=1000',
    `/v2/things?thingId=${victim.thingId}`,
    '/v2/things?bbox=-180,-90,180,90',
    `/v2/things?cursor=${victim.thingId}`,
    '/v2/principal',
  ]
  const everyone = ['own token', 'own read session', 'own write session', 'own minted write session'] as const
  for (const as of everyone) {
    for (const path of paths) {
      const { status, text } = await ask(world, { request: `GET ${path}`, as })
      expect(status).toBe(200)
      expect(text).not.toContain(victim.thingId)
    }
    const wider = `GET /v2/things?among=${victim.thingId}&things=*`
    expect((await ask(world, { request: wider, as })).status).toBe(400)
    const all = await ask(world, { request: 'GET /v2/things', as })
    expect(JSON.parse(all.text)).toMatchObject({ things: [{ thingId: own.thingId }] })
  }
})

http("a cursor of another thing's pages shows nothing of it", async world => {
  const victims = await ask(world, {
    request: 'GET /v2/things/<victim>/resources/temperature?limit=1',
    as: 'read session of victim',
  })
  const [, next = ''] = /[?&]cursor=([^&>]+)/.exec(String(victims.headers.link)) ?? []
  expect(next).not.toBe('')
  for (const key of ['temperature', 'cursor']) {
    const body = { values: [{ key, value: 'own' }] }
    await ask(world, { request: 'POST /v2/things/<own token>', body })
    const request = `GET /v2/things/<own token>/resources/${key}?limit=1000&cursor=${next}`
    const { status, text } = await ask(world, { request })
    expect([200, 400]).toContain(status)
    expect(text).not.toContain('of the victim')
  }
})

http('a write id of one thing is nothing to another', async world => {
  const [theirs, mine] = [await world.operator.createThing(), await world.operator.createThing()]
  for (const { thingToken } of [mine, theirs]) {
    const body = {
      id: 'same',
      values: [{ key: 'n', value: thingToken === mine.thingToken ? 'mine' : 'theirs' }],
    }
    expect((await ask(world, { request: `POST /v2/things/${thingToken}`, body })).status).toBe(201)
  }
  const read = await ask(world, {
    request: `GET /v2/things/${theirs.thingToken}/resources/n`,
  })
  expect(JSON.parse(read.text)).toMatchObject([{ value: 'theirs' }])
})

http('a session that a thing minted under its id dies with the token that was presented', async world => {
  const thing = await world.operator.createThing()
  const second = await world.operator.addToken(thing)
  const headers = { authorization: second.thingToken }
  const body = { access: 'read' }
  const request = `POST /v2/things/${thing.thingId}/sessions`
  const minted = await ask(world, { request, headers, body })
  expect(minted.status).toBe(201)
  const { sessionToken } = JSON.parse(minted.text) as { sessionToken: string }
  const read = {
    request: `GET /v2/things/${thing.thingId}/resources`,
    headers: { authorization: sessionToken },
  }
  expect((await ask(world, read)).status).toBe(200)
  await world.operator.removeToken(thing, second.tokenId)
  expect(JSON.parse((await ask(world, read)).text)).toMatchObject({
    code: 401,
    reason: 'invalid_session',
  })
})

http('a removed thing is gone from a session of several, and nothing else is', async world => {
  const [removed, kept] = [await world.operator.createThing(), await world.operator.createThing()]
  const things = [removed.thingId, kept.thingId]
  const { sessionToken } = await world.operator.createSession({ things, access: 'read' })
  await world.operator.removeThing(removed)
  const read = async (thingId: string) => {
    const headers = { authorization: sessionToken }
    const request = `GET /v2/things/${thingId}/resources`
    return JSON.parse((await ask(world, { request, headers })).text) as unknown
  }
  expect(await read(removed.thingId)).toMatchObject({ code: 404, reason: 'unknown_thing' })
  expect(await read(kept.thingId)).toEqual({ resources: [] })
})

http("a position in another thing's events shows nothing of it", async world => {
  const [theirs, mine] = [await world.operator.createThing(), await world.operator.createThing()]
  const url = `${world.server.url}/v2/things`
  const accept = { accept: 'text/event-stream' }
  const victims = await StreamClient.open(`${url}/${theirs.thingToken}`, accept)
  await victims.head()
  await writeValue(world, theirs, 'theirs')
  const id = await eventId(victims)
  await writeValue(world, theirs, 'theirs, later')
  const stream = await StreamClient.open(`${url}/${mine.thingToken}`, { ...accept, 'last-event-id': id })
  await stream.head()
  await writeValue(world, mine, 'mine')
  let received = ''
  while (!received.includes('"mine"')) received += await stream.next()
  expect(received).not.toContain('theirs')
  for (const open of [victims, stream]) await open.destroy()
})

http('a stream that is asked for while its session is removed is refused or ended', async world => {
  const thing = await world.operator.createThing()
  for (let round = 0; round < 20; round += 1) {
    const session = await world.operator.createSession({ things: [thing.thingId], access: 'read' })
    const headers = { authorization: session.sessionToken, connection: 'close' }
    const accept = round % 2 === 0 ? { accept: 'text/event-stream' } : undefined
    const url = `${world.server.url}/v2/things/${thing.thingId}`
    const [stream] = await Promise.all([
      StreamClient.open(url, { ...headers, ...accept }),
      later(round, () => world.operator.removeSession(session.sessionId)),
    ])
    expect(await stream.head()).toMatch(/^HTTP\/1\.1 (200|401) /)
    await stream.closed
  }
  await writeValue(world, thing, 'after')
})

for (const form of ['chunks', 'events'] as const) {
  for (const dead of [
    'a removed session',
    'an expired session',
    'a removed token',
    'a removed thing',
  ] as const)
    http(`a stream of ${form} ends with ${dead}, and no other does`, world => endStream(world, form, dead))
}

async function endStream(
  world: World,
  form: 'chunks' | 'events',
  dead: 'a removed session' | 'an expired session' | 'a removed token' | 'a removed thing',
): Promise<void> {
  const { operator, server } = world
  const [thing, neighbour] = [await operator.createThing(), await operator.createThing()]
  const second = await operator.addToken(thing)
  const terms = { things: [thing.thingId], access: 'read' } as const
  const session = await operator.createSession({
    ...terms,
    ...(dead === 'an expired session' && { expiresIn: 5 }),
  })
  const open = async (path: string) => {
    const headers = form === 'events' ? { accept: 'text/event-stream' } : undefined
    const stream = await StreamClient.open(`${server.url}/v2/things/${path}`, headers)
    expect(await stream.head()).toContain('200 OK')
    return stream
  }
  const isSession = dead.endsWith('session')
  const stream = await open(
    isSession ? `${thing.thingId}?session=${session.sessionToken}` : second.thingToken,
  )
  const other = await open(dead === 'a removed thing' ? neighbour.thingToken : thing.thingToken)
  if (dead === 'a removed session') await operator.removeSession(session.sessionId)
  if (dead === 'a removed token') await operator.removeToken(thing, second.tokenId)
  if (dead === 'a removed thing') await operator.removeThing(thing)
  await stream.closed
  await writeValue(world, dead === 'a removed thing' ? neighbour : thing, 'after')
  for (let received = ''; !received.includes('after'); ) received += await other.next()
  await expect(untilEnd(stream)).resolves.not.toContain('after')
  await other.destroy()
}

/** What is left in a stream that has ended. */
async function untilEnd(stream: StreamClient): Promise<string> {
  let rest = ''
  try {
    for (;;) rest += await stream.next()
  } catch {
    return rest
  }
}

async function eventId(stream: StreamClient): Promise<string> {
  for (let received = ''; ; ) {
    received += await stream.next()
    const [, id] = /^id: ?(\S+)$/m.exec(received) ?? []
    if (id !== undefined && received.includes('theirs')) return id
  }
}
