import { describe, expect, it } from 'vitest'
import type { Thing } from '../../helpers/http-client.ts'
import { isMessageOn, type MqttClient } from '../../helpers/mqtt-client.ts'
import { DoorService, topicsReceived } from '../door-service.ts'

const session = { clientId: 'board', clean: false }

function errorsOf(ref: string): string {
  return `things/${ref}/errors`
}

/** Resolves when every message that was sent before has arrived, if it was sent to this client at all. */
async function untilToldOf(service: DoorService, thing: Thing, client: MqttClient): Promise<string[]> {
  const errorsReceived = () => topicsReceived(client).filter(topic => topic.endsWith('/errors'))
  const before = errorsReceived()
  const witness = await service.connectThing(thing)
  await witness.subscribe(errorsOf(thing.thingId))
  await service.refuse(thing)
  await witness.next(isMessageOn(errorsOf(thing.thingId)))
  await client.ping()
  return errorsReceived().slice(before.length)
}

describe('a persistent session', () => {
  it('is present from the second CONNECT on, with and without subscriptions, also after a restart', async () => {
    let service = await DoorService.start()
    const thing = await service.createThing()
    const present: unknown[] = []
    const visit = async (clientId: string, work = async (_client: MqttClient) => {}) => {
      const client = await service.connectThing(thing, { clientId, clean: false })
      present.push(client.connack.sessionPresent)
      await work(client)
      await client.disconnect()
    }
    const subscribe = async (client: MqttClient) => {
      expect(await client.subscribe(errorsOf(thing.thingToken))).toBe(1)
    }
    await visit('bare')
    await visit('subscribed', subscribe)
    await visit('bare')
    await visit('subscribed')
    service = await service.restart()
    await visit('bare')
    await visit('subscribed')
    await visit('new')
    expect(present).toEqual([false, false, true, true, true, true, false])
  })

  it('is of the admin too', async () => {
    const service = await DoorService.start()
    const admin = { ...session, username: 'operator', password: service.adminKey }
    await (await service.connect(admin)).disconnect()
    expect((await service.connect(admin)).connack.sessionPresent).toBe(true)
  })

  it('is found again with a token that was added since', async () => {
    const service = await DoorService.start()
    const thing = await service.createThing()
    const before = await service.connectThing(thing, session)
    await before.subscribe(errorsOf(thing.thingToken))
    await before.disconnect()
    const { thingToken } = await service.things.registry.addToken(thing.thingId)
    const [{ tokenId } = { tokenId: '' }] = await service.things.registry.tokens(thing.thingId)
    await service.things.registry.removeToken(thing.thingId, tokenId)
    const rotated = { ...thing, thingToken }
    const after = await service.connectThing(rotated, session)
    expect(after.connack).toMatchObject({ returnCode: 0, sessionPresent: true })
    expect(await untilToldOf(service, rotated, after)).toEqual([errorsOf(thingToken)])
  })

  it('has its subscriptions restored, also after a restart', async () => {
    let service = await DoorService.start()
    const thing = await service.createThing()
    const first = await service.connectThing(thing, session)
    await first.subscribe(errorsOf(thing.thingId))
    await first.disconnect()
    const second = await service.connectThing(thing, session)
    expect(await untilToldOf(service, thing, second)).toEqual([errorsOf(thing.thingId)])
    service = await service.restart()
    const third = await service.connectThing(thing, session)
    expect(await untilToldOf(service, thing, third)).toEqual([errorsOf(thing.thingId)])
  })

  it('has those subscriptions restored that its client may still have', async () => {
    let service = await DoorService.start()
    const [a, b] = [await service.createThing(), await service.createThing()]
    const admin = { ...session, username: 'operator', password: service.adminKey }
    await (await service.connect(admin)).subscribeAll([errorsOf(a.thingId), errorsOf(b.thingId)])
    await service.things.registry.remove(b.thingId)
    service = await service.restart()
    const client = await service.connect(admin)
    expect(client.connack).toMatchObject({ returnCode: 0, sessionPresent: true })
    expect(await untilToldOf(service, a, client)).toEqual([errorsOf(a.thingId)])
  })

  it('keeps no token', async () => {
    const service = await DoorService.start()
    const thing = await service.createThing()
    const client = await service.connectThing(thing, session)
    await client.subscribeAll([errorsOf(thing.thingToken), `v2/things/${thing.thingToken}`])
    const documents = await service.things.documents.list('mqtt-', { limit: 10 })
    expect(documents).toHaveLength(1)
    expect(JSON.stringify(documents)).not.toContain(thing.thingToken)
  })

  it('is wiped by a CONNECT with clean=true, also while it is in use', async () => {
    const service = await DoorService.start()
    const thing = await service.createThing()
    for (const isInUse of [false, true]) {
      const first = await service.connectThing(thing, session)
      expect(first.connack.sessionPresent).toBe(false)
      await first.subscribe(errorsOf(thing.thingToken))
      if (!isInUse) await first.disconnect()
      const clean = await service.connectThing(thing, { ...session, clean: true })
      await first.untilClosed()
      expect(clean.connack.sessionPresent).toBe(false)
      expect(await untilToldOf(service, thing, clean)).toEqual([])
      await clean.disconnect()
      const after = await service.connectThing(thing, session)
      expect(after.connack.sessionPresent).toBe(false)
      expect(await untilToldOf(service, thing, after)).toEqual([])
      await after.disconnect()
      await (await service.connectThing(thing, { ...session, clean: true })).disconnect()
    }
    expect(await service.documents('mqtt-')).toEqual([])
  })

  it('holds no trace of the filters of a SUBSCRIBE that were refused', async () => {
    let service = await DoorService.start()
    const thing = await service.createThing()
    const other = await service.createThing()
    const refused = [
      errorsOf(other.thingId),
      'things/+/errors',
      '#',
      '$SYS/#',
      `$share/g/${errorsOf(other.thingId)}`,
    ]
    const first = await service.connectThing(thing, session)
    const codes = await first.subscribeAll([...refused, errorsOf(thing.thingId), ...refused.slice(0, 1)])
    expect(codes.filter(code => code !== 128)).toEqual([1])
    expect(JSON.stringify(await service.things.documents.list('mqtt-', { limit: 10 }))).not.toContain(
      other.thingId,
    )
    for (let restarts = 0; restarts < 2; restarts++) {
      const client = await service.connectThing(thing, session)
      expect(await untilToldOf(service, other, client)).toEqual([])
      expect(await untilToldOf(service, thing, client)).toEqual([errorsOf(thing.thingId)])
      service = await service.restart()
    }
  })
})

describe('UNSUBSCRIBE', () => {
  const aliases = { token: 'thingToken', id: 'thingId' } as const
  const ways = Object.keys(aliases).flatMap(subscribed =>
    Object.keys(aliases).map(named => [subscribed, named] as ['token' | 'id', 'token' | 'id']),
  )

  it.each(ways)('ends a subscription by %s when it names the %s', async (subscribed, named) => {
    const service = await DoorService.start()
    const thing = await service.createThing()
    const client = await service.connectThing(thing)
    await client.subscribe(errorsOf(thing[aliases[subscribed]]))
    expect(await untilToldOf(service, thing, client)).toHaveLength(1)
    await client.unsubscribe(errorsOf(thing[aliases[named]]))
    expect(await untilToldOf(service, thing, client)).toEqual([])
  })

  it.each(ways)('ends a restored subscription by %s when it names the %s', async (subscribed, named) => {
    let service = await DoorService.start()
    const thing = await service.createThing()
    const first = await service.connectThing(thing, session)
    await first.subscribeAll([errorsOf(thing[aliases[subscribed]]), `v2/things/${thing.thingId}`])
    service = await service.restart()
    const second = await service.connectThing(thing, session)
    await second.unsubscribe(errorsOf(thing[aliases[named]]))
    expect(await untilToldOf(service, thing, second)).toEqual([])
    await second.disconnect()
    for (const restart of [false, true]) {
      if (restart) service = await service.restart()
      const later = await service.connectThing(thing, session)
      expect(later.connack.sessionPresent).toBe(true)
      expect(await untilToldOf(service, thing, later)).toEqual([])
    }
  })

  it('leaves the other subscriptions, and answers for filters that there are not', async () => {
    const service = await DoorService.start()
    const thing = await service.createThing()
    const client = await service.connectThing(thing, session)
    await client.subscribeAll([errorsOf(thing.thingToken), `things/${thing.thingToken}/date`])
    await client.unsubscribe(`things/${thing.thingId}/date`, 'things/+/errors', '#', 'sensors/x')
    expect(await untilToldOf(service, thing, client)).toEqual([errorsOf(thing.thingToken)])
  })
})
