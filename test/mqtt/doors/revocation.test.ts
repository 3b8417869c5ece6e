import { describe, expect, it } from 'vitest'
import type { Thing } from '../../helpers/http-client.ts'
import type { MqttClient } from '../../helpers/mqtt-client.ts'
import { DoorService, eventually, reading, writeTopicOf } from '../door-service.ts'
import { numbers, passed, valuesOf, writeAll } from '../messages.ts'

async function start() {
  const service = await DoorService.start()
  const thing = await service.createThing()
  const neighbour = await service.createThing()
  const { registry } = service.things
  const added = await registry.addToken(thing.thingId)
  const [first] = await registry.tokens(thing.thingId)
  if (!first) throw new Error('the thing has no token')
  /** Of the token that the thing was made with. */
  const revoke = () => registry.removeToken(thing.thingId, first.tokenId)
  return { service, thing, neighbour, registry, revoke, rotated: { ...thing, thingToken: added.thingToken } }
}

describe('the removal of a token', () => {
  const connections = {
    'as password': (service, { thingToken }) => service.connect({ username: 'device', password: thingToken }),
    'as username': (service, { thingToken }) => service.connect({ username: thingToken }),
    'in the topic of a publish': async (service, { thingToken }) => {
      const client = await service.connect()
      await client.publish(writeTopicOf(thingToken), reading(1))
      return client
    },
    'in a filter': async (service, { thingToken }) => {
      const client = await service.connect()
      await client.subscribe(`things/${thingToken}/values/+`)
      return client
    },
    'in the topic of a publish of the operator': async (service, { thingToken }) => {
      const client = await service.connect({ username: 'operator', password: service.adminKey })
      await client.publish(writeTopicOf(thingToken), reading(1))
      return client
    },
    'through a session that it minted': async (service, { thingId, thingToken }) => {
      const { sessionToken } = await service.things.sessions.createForThing(thingId, thingToken, {
        access: 'read',
      })
      return await service.connect({ username: 'app', password: sessionToken })
    },
  } satisfies Record<string, (service: DoorService, thing: Thing) => Promise<MqttClient>>

  it.each(Object.entries(connections))('ends a connection that relies on it %s', async (_, connect) => {
    const { service, thing, revoke } = await start()
    const client = await connect(service, thing)
    await revoke()
    await client.untilClosed()
  })

  it('leaves those alone that rely on another token, the operator, or a session of the operator', async () => {
    const { service, thing, rotated, neighbour, revoke } = await start()
    const clients = [
      await service.connectThing(rotated),
      await service.connectThing(neighbour),
      await service.connect({ username: 'operator', password: service.adminKey }),
      await service.connectSession([thing], 'read'),
    ]
    await revoke()
    for (const client of clients) await client.ping()
  })

  it('leaves the thing its session: with another token it gets what it missed', async () => {
    const { service, thing, rotated, revoke } = await start()
    const session = { clientId: 'board', clean: false }
    const before = await service.connectThing(thing, session)
    await writeAll(service, thing, 'retained')
    await before.subscribe(`things/${thing.thingToken}/values/+`)
    await before.next(({ cmd }) => cmd === 'publish')
    await before.ping()
    await revoke()
    await before.untilClosed()
    await writeAll(service, rotated, ...numbers(3))
    const after = await service.connectThing(rotated, session)
    expect(after.connack.sessionPresent).toBe(true)
    await passed(service, rotated, after)
    expect(valuesOf(after, 'n')).toEqual(numbers(3))
    expect((await service.connectThing(thing, session)).connack.returnCode).toBe(4)
  })

  it('drops the will that it allowed', async () => {
    const { service, thing, rotated, revoke } = await start()
    const willOf = (value: string) => ({ topic: writeTopicOf(thing.thingId), payload: reading(value) })
    const client = await service.connectThing(thing, { will: willOf('of the revoked') })
    await revoke()
    await client.untilClosed()
    await (await service.connectThing(rotated, { will: willOf('of another') })).destroy()
    await eventually(() => service.values(thing, 'n')).toEqual(['of another'])
    await eventually(() => service.documents('mqtt-wills/')).toEqual([])
  })
})

describe('the end of a session', () => {
  it('ends a connection that has presented its token in places where it is worth nothing', async () => {
    const { service, thing } = await start()
    const { sessions } = service.things
    const { sessionId, sessionToken } = await sessions.create([thing.thingId], { access: 'write' })
    const client = await service.connect({ username: sessionToken, password: sessionToken })
    const filters = [`things/${sessionToken}/values/n`, `v2/activations/${sessionToken}/x`]
    expect(await client.subscribeAll(filters)).toEqual([128, 128])
    await sessions.remove(sessionId)
    await client.untilClosed()
  })

  it.each(['removal', 'expiry'] as const)('by %s ends its connections and its stored state', async how => {
    const { service, thing } = await start()
    const { sessions } = service.things
    const terms = { access: 'read', expiresIn: how === 'expiry' ? 5 : 60 } as const
    const { sessionId, sessionToken } = await sessions.create([thing.thingId], terms)
    const connect = (clientId: string) =>
      service.connect({ username: 'app', password: sessionToken, clientId, clean: false })
    const open = await connect('a: %/b')
    const left = await connect('c')
    for (const client of [open, left]) await client.subscribe(`things/${thing.thingId}/values/+`)
    await left.disconnect()
    expect(await service.documents('mqtt-sessions/')).toHaveLength(2)
    if (how === 'removal') await sessions.remove(sessionId)
    await open.untilClosed()
    await eventually(() => service.documents('mqtt-sessions/')).toEqual([])
    await eventually(() => service.documents('sessions/')).toEqual([])
    expect((await connect('c')).connack.returnCode).toBe(4)
  })
})

describe('the removal of a thing', () => {
  it('ends its connections, those of its sessions, and their stored state', async () => {
    const { service, thing, neighbour, registry } = await start()
    const { sessionToken } = await service.things.sessions.createForThing(thing.thingId, thing.thingToken, {
      access: 'read',
    })
    const kept = { clientId: 'board', clean: false }
    const gone = [
      await service.connectThing(thing, kept),
      await service.connect({ username: 'app', password: sessionToken, ...kept }),
    ]
    const other = await service.connectThing(neighbour, kept)
    for (const client of gone) await client.subscribe(`things/${thing.thingId}/values/+`)
    await registry.remove(thing.thingId)
    for (const client of gone) await client.untilClosed()
    await other.ping()
    await eventually(() => service.documents('mqtt-sessions/')).toHaveLength(1)
  })
})
