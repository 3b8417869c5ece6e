import { expect } from 'vitest'
import type { Thing } from '../helpers/http-client.ts'
import type { MqttClient } from '../helpers/mqtt-client.ts'
import {
  connectOver,
  expectRefused,
  forgery,
  later,
  login,
  loginOf,
  subackIn,
  untilClosed,
  untilValue,
  valuesOf,
  writeValue,
} from './clients.ts'
import { expectUnforged, isolationTests, type Way, type World } from './world.ts'

/** Credentials that die while they are in use. */

const { mqtt } = isolationTests()

mqtt('a removed session loses its connection, and nobody else does', async (world, way) => {
  const thing = await world.operator.createThing()
  const terms = { things: [thing.thingId], access: 'write' } as const
  const [dead, alive] = [await world.operator.createSession(terms), await world.operator.createSession(terms)]
  const client = await watching(world, way, dead.sessionToken, thing)
  const others = [
    await watching(world, way, alive.sessionToken, thing),
    await watching(world, way, thing.thingToken, thing),
  ]
  await world.operator.removeSession(dead.sessionId)
  await untilClosed(client, way)
  await writeValue(world, thing, 'after')
  for (const other of others) await untilValue(other, 'after')
  expect(received(client)).not.toContain('after')
  await expectRefused(world, way, dead.sessionToken, 'watching')
  for (const other of others) await other.disconnect()
})

mqtt('an expired session loses its connection, and its will is dropped', async (world, way) => {
  const thing = await world.operator.createThing()
  const terms = { things: [thing.thingId], access: 'write', expiresIn: 5 } as const
  const dead = await world.operator.createSession(terms)
  const minted = await world.operator.mint(thing, { access: 'read', expiresIn: 5 })
  const heir = await world.operator.mint(thing, { access: 'write', expiresIn: 5 })
  const willful = await login(world, way, heir.sessionToken, { will: willOf(thing) })
  const client = await watching(world, way, dead.sessionToken, thing)
  const reader = await watching(world, way, minted.sessionToken, thing)
  await untilClosed(client, way)
  await untilClosed(reader, way)
  await writeValue(world, thing, 'after')
  for (const closed of [client, reader]) expect(received(closed)).not.toContain('after')
  await untilClosed(willful, way)
  await expectNothingForged(world, thing)
  for (const { sessionToken } of [dead, minted, heir])
    await expectRefused(world, way, sessionToken, 'watching')
})

mqtt(
  'a removed token loses its connection, another token of the thing keeps its session',
  async (world, way) => {
    const thing = await world.operator.createThing()
    const second = await world.operator.addToken(thing)
    const client = await watching(world, way, second.thingToken, thing, { clientId: 'old' })
    const other = await watching(world, way, thing.thingToken, thing, { clientId: 'new' })
    await world.operator.removeToken(thing, second.tokenId)
    await untilClosed(client, way)
    await expectRefused(world, way, second.thingToken, 'watching')
    await writeValue(world, thing, 'after')
    await untilValue(other, 'after')
    const back = await login(world, way, thing.thingToken, { clientId: 'old', clean: false })
    expect(back.connack.sessionPresent).toBe(true)
    await untilValue(back, 'after')
    for (const open of [other, back]) await open.disconnect()
  },
)

mqtt('a session that was minted dies with the token, one of the operator does not', async (world, way) => {
  const thing = await world.operator.createThing()
  const second = await world.operator.addToken(thing)
  const minted = await world.operator.mint({ ...thing, ...second }, { access: 'write' })
  const kept = await world.operator.createSession({ things: [thing.thingId], access: 'read' })
  const client = await watching(world, way, minted.sessionToken, thing)
  const other = await watching(world, way, kept.sessionToken, thing)
  await world.operator.removeToken(thing, second.tokenId)
  await untilClosed(client, way)
  await expectRefused(world, way, minted.sessionToken, 'watching')
  await writeValue(world, thing, 'after')
  await untilValue(other, 'after')
  await other.disconnect()
})

mqtt(
  'a removed thing loses its connections, anonymous ones and those of its sessions too',
  async (world, way) => {
    const [thing, other] = [await world.operator.createThing(), await world.operator.createThing()]
    const minted = await world.operator.mint(thing, { access: 'read' })
    const clients = [
      await watching(world, way, thing.thingToken, thing),
      await watching(world, way, minted.sessionToken, thing),
      await watching(world, way, undefined, thing),
    ]
    const bystander = await watching(world, way, other.thingToken, other)
    await world.operator.removeThing(thing)
    for (const client of clients) await untilClosed(client, way)
    for (const credential of [thing.thingToken, minted.sessionToken]) {
      await expectRefused(world, way, credential, 'watching')
    }
    await writeValue(world, other, 'after')
    await untilValue(bystander, 'after')
    await bystander.disconnect()
  },
)

mqtt('an anonymous connection is closed when the token that it used is removed', async (world, way) => {
  const thing = await world.operator.createThing()
  const second = await world.operator.addToken(thing)
  const reader = await watching(world, way, undefined, { ...thing, ...second })
  const writer = await login(world, way, undefined)
  await writer.publish(`things/${second.thingToken}/write`, { values: [{ key: 'n', value: 'before' }] })
  const other = await watching(world, way, undefined, thing, { clientId: 'other' })
  await world.operator.removeToken(thing, second.tokenId)
  for (const client of [reader, writer]) await untilClosed(client, way)
  await writeValue(world, thing, 'after')
  await untilValue(other, 'after')
  expect(received(reader)).not.toContain('after')
  await other.disconnect()
})

mqtt('a session that is removed while it is away does not come back', async (world, way) => {
  const thing = await world.operator.createThing()
  const session = await world.operator.createSession({ things: [thing.thingId], access: 'read' })
  const client = await watching(world, way, session.sessionToken, thing)
  await client.disconnect()
  await writeValue(world, thing, 'missed')
  await world.operator.removeSession(session.sessionId)
  await expectRefused(world, way, session.sessionToken, 'watching')
})

mqtt(
  'a session that presented its token in a filter loses its connection when it is removed',
  async (world, way) => {
    const thing = await world.operator.createThing()
    const session = await world.operator.createSession({ things: [thing.thingId], access: 'read' })
    const client = await watching(world, way, session.sessionToken, thing)
    const filters = [`things/${session.sessionToken}/values/n`]
    expect(await client.subscribeAll(filters)).toEqual(subackIn(way, filters, [128]))
    await world.operator.removeSession(session.sessionId)
    await untilClosed(client, way)
    await writeValue(world, thing, 'after')
    expect(received(client)).not.toContain('after')
  },
)

mqtt("a subscription by another thing's token is gone when that token is removed", async (world, way) => {
  const [theirs, mine] = [await world.operator.createThing(), await world.operator.createThing()]
  const kept = { clientId: 'kept', clean: false }
  for (const isAway of [false, true]) {
    const second = await world.operator.addToken(theirs)
    const client = await login(world, way, mine.thingToken, kept)
    // A thing may have its own alone, but a token in a topic is a credential too.
    await client.subscribe(`things/${second.thingToken}/values/#`)
    await client.subscribe(`things/${mine.thingId}/values/#`)
    if (isAway) await client.disconnect()
    await world.operator.removeToken(theirs, second.tokenId)
    if (!isAway) await client.destroy()
    await writeValue(world, theirs, `theirs ${isAway}`)
    await writeValue(world, mine, `mine ${isAway}`)
    const back = await login(world, way, mine.thingToken, kept)
    await untilValue(back, `mine ${isAway}`)
    await writeValue(world, theirs, `theirs ${isAway}, live`)
    await writeValue(world, mine, `mine ${isAway}, live`)
    await untilValue(back, `mine ${isAway}, live`)
    expect(await valuesOf(back)).toEqual([`mine ${isAway}`, `mine ${isAway}, live`])
    await back.disconnect()
  }
})

/** Wills of clients whose credential dies while they are connected. */

mqtt('the will of a removed session is dropped', async (world, way) => {
  const thing = await world.operator.createThing()
  const session = await world.operator.createSession({ things: [thing.thingId], access: 'write' })
  const client = await login(world, way, session.sessionToken, { will: willOf(thing) })
  await world.operator.removeSession(session.sessionId)
  await untilClosed(client, way)
  await expectNothingForged(world, thing)
})

mqtt('the will of a removed token is dropped', async (world, way) => {
  const thing = await world.operator.createThing()
  const second = await world.operator.addToken(thing)
  const client = await login(world, way, second.thingToken, { will: willOf(thing) })
  const topic = `things/${second.thingToken}/write`
  const anonymous = await login(world, way, undefined, { will: { ...willOf(thing), topic } })
  await world.operator.removeToken(thing, second.tokenId)
  await untilClosed(client, way)
  await anonymous.destroy()
  await expectNothingForged(world, thing)
})

/** Getting in at the very moment at which a credential dies. */

const rounds = 20

mqtt('a session that connects while it is removed is not left in', async (world, way) => {
  const thing = await world.operator.createThing()
  for (let round = 0; round < rounds; round += 1) {
    const session = await world.operator.createSession({ things: [thing.thingId], access: 'write' })
    const options = { ...loginOf(session.sessionToken), clientId: 'racing', clean: round % 2 === 0 }
    const [client] = await Promise.all([
      connectOver(world, way, options).catch(() => undefined),
      later(round, () => world.operator.removeSession(session.sessionId)),
    ])
    await client?.untilClosed()
  }
})

mqtt('a session that subscribes while it is removed is not left in', async (world, way) => {
  const thing = await world.operator.createThing()
  for (let round = 0; round < rounds; round += 1) {
    const session = await world.operator.createSession({ things: [thing.thingId], access: 'read' })
    const client = await login(world, way, session.sessionToken, { clientId: 'racing', clean: false })
    await Promise.all([
      client.subscribe(`things/${thing.thingId}/values/n`).catch(() => undefined),
      later(round, () => world.operator.removeSession(session.sessionId)),
    ])
    await untilClosed(client, way)
  }
})

mqtt(
  'an anonymous client that subscribes while its token is removed is refused or not left in',
  async (world, way) => {
    const thing = await world.operator.createThing()
    for (let round = 0; round < rounds; round += 1) {
      const token = await world.operator.addToken(thing)
      const client = await login(world, way, undefined)
      const [granted] = await Promise.all([
        client.subscribe(`things/${token.thingToken}/values/n`).catch(() => undefined),
        later(round, () => world.operator.removeToken(thing, token.tokenId)),
      ])
      if (granted !== undefined && granted >= 128) await client.disconnect()
      else await untilClosed(client, way)
    }
  },
)

/** A persistent session that is subscribed to the thing, and works. */
async function watching(
  world: World,
  way: Way,
  credential: string | undefined,
  thing: Thing,
  { clientId = 'watching' } = {},
): Promise<MqttClient> {
  const client = await login(world, way, credential, { clientId, clean: credential === undefined })
  const ref = credential === undefined ? thing.thingToken : thing.thingId
  expect(await client.subscribe(`things/${ref}/values/n`)).toBe(1)
  return client
}

/** Everything that a closed connection ever got, as one text. */
function received(client: MqttClient): string {
  return client.received.map(packet => (packet.cmd === 'publish' ? packet.payload.toString() : '')).join(' ')
}

function willOf(thing: Thing) {
  return { topic: `things/${thing.thingId}/write`, payload: forgery('a will'), qos: 1 } as const
}

/** Now and when all is over. */
async function expectNothingForged(world: World, thing: Thing): Promise<void> {
  await expectUnforged(world, thing)
  world.unforged.push(thing)
}
