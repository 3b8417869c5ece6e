import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Thing } from '../../helpers/http-client.ts'
import { isOf, type MqttClient } from '../../helpers/mqtt-client.ts'
import { DoorService, reading, writeTopicOf } from '../door-service.ts'
import { messagesOf, nextOn, passed, post } from '../messages.ts'

const session = { clientId: 'board', clean: false }

/** Adds another token to a thing. */
async function addToken({ things }: DoorService, { thingId }: Thing): Promise<Thing> {
  const { thingToken } = await things.registry.addToken(thingId)
  return { thingId, thingToken }
}

async function start() {
  const service = await DoorService.start()
  const thing = await service.createThing()
  const other = await addToken(service, thing)
  const aliases = { token: thing.thingToken, id: thing.thingId, 'second token': other.thingToken }
  return { service, thing, other, aliases }
}

/** Has one record, one whole write and one refused write told, and gives the refs in the topics that a client sees. */
async function refsTold(service: DoorService, thing: Thing, client: MqttClient): Promise<string[]> {
  const live = () => messagesOf(client).filter(({ retain }) => !retain)
  const before = live().length
  await post(service, thing, reading(1))
  await service.refuse(thing)
  await client.next(packet => packet.cmd === 'publish' && packet.topic.endsWith('/errors'))
  await client.ping()
  const topics = live()
    .slice(before)
    .map(({ topic }) => topic)
  expect(topics.map(topic => topic.split('/').at(-1))).toHaveLength(3)
  return topics.map(topic => topic.replace(/^v2\//, '').split('/')[1] ?? '')
}

const filtersOf = (ref: string) => [`things/${ref}/values/n`, `things/${ref}/errors`, `v2/things/${ref}`]

describe('a thing', () => {
  it.each(['token', 'id', 'second token'] as const)(
    'is seen by the %s if the subscriptions to it were spelled so: live, and retained',
    async spelling => {
      const { service, thing, aliases } = await start()
      await post(service, thing, reading(0))
      const ref = aliases[spelling]
      const admin = { username: 'operator', password: service.adminKey }
      for (const client of [await service.connectThing(thing), await service.connect(admin)]) {
        await client.subscribeAll(filtersOf(ref))
        expect(await refsTold(service, thing, client)).toEqual([ref, ref, ref])
        const [retained] = messagesOf(client)
        expect(retained).toMatchObject({ topic: `things/${ref}/values/n`, retain: true })
        await client.disconnect()
      }
    },
  )

  it('is seen as its latest subscription spells it, whatever that selects, until the next one', async () => {
    const { service, thing, aliases } = await start()
    const client = await service.connectThing(thing)
    await client.subscribeAll(filtersOf(aliases.id))
    for (const ref of [aliases.token, aliases['second token'], aliases.id, aliases.token]) {
      await client.subscribe(`things/${ref}/values/nothing`)
      expect(await refsTold(service, thing, client)).toEqual([ref, ref, ref])
    }
    await client.unsubscribe(`things/${aliases.id}/values/nothing`)
    const { token } = aliases
    expect(await refsTold(service, thing, client)).toEqual([token, token, token])
  })

  it('is seen as the last filter spells it where one SUBSCRIBE spells it in several ways', async () => {
    const { service: before, thing, aliases } = await start()
    const orders = [
      [aliases.id, aliases.token, aliases['second token']],
      [aliases.token, aliases['second token'], aliases.id],
      [aliases['second token'], aliases.id, aliases.token],
    ]
    let service = before
    for (const refs of orders) {
      // Nothing is known of any token then.
      service = await service.restart()
      const client = await service.connectThing(thing)
      const filters = refs.flatMap(ref => filtersOf(ref))
      expect(await client.subscribeAll(filters)).toEqual(filters.map(() => 1))
      const last = refs.at(-1)
      expect(await refsTold(service, thing, client)).toEqual([last, last, last])
    }
  })

  it('is not seen otherwise because of a filter that was refused', async () => {
    const { service, thing, aliases } = await start()
    const client = await service.connect()
    await client.subscribeAll(filtersOf(aliases.token))
    expect(await client.subscribe(`things/${aliases.id}/values/n`)).toBe(128)
    // The thing is told of the refusal.
    await nextOn(client, '/errors')
    const { token } = aliases
    expect(await refsTold(service, thing, client)).toEqual([token, token, token])
  })

  it('is seen by the admin under the id, in the messages of a filter for every thing', async () => {
    const { service, thing, aliases } = await start()
    await post(service, thing, reading(0))
    const admin = await service.connect({ username: 'operator', password: service.adminKey })
    await admin.subscribeAll(['things/+/values/n', 'things/+/errors', 'v2/things/+'])
    const { id, token } = aliases
    expect(await refsTold(service, thing, admin)).toEqual([id, id, id])
    expect(messagesOf(admin)[0]).toMatchObject({ topic: `things/${id}/values/n`, retain: true })
    await admin.subscribe(`things/${token}/values/nothing`)
    expect(await refsTold(service, thing, admin)).toEqual([token, token, token])
  })
})

describe('a thing of a session that its client finds again', () => {
  const ways = {
    'is seen by the token that the client presents, if it was spelled as a token': ['token', 'token'],
    'is seen by the token that the client presents, if another one was spelled': ['second token', 'token'],
    'is seen by the id, if it was spelled as the id': ['id', 'id'],
  } as const

  it.each(Object.entries(ways))('%s: missed, and live', async (_name, [spelled, seen]) => {
    const { service: before, thing, aliases } = await start()
    let service = before
    for (const restarts of [false, true]) {
      const first = await service.connectThing(thing, session)
      await first.subscribeAll(filtersOf(aliases[spelled]))
      await first.disconnect()
      await post(service, thing, reading('missed'))
      if (restarts) service = await service.restart()
      const second = await service.connectThing(thing, session)
      expect((await nextOn(second, '/n')).topic).toBe(`things/${aliases[seen]}/values/n`)
      expect((await nextOn(second, aliases[seen])).topic).toBe(`v2/things/${aliases[seen]}`)
      const ref = aliases[seen]
      expect(await refsTold(service, thing, second)).toEqual([ref, ref, ref])
      await second.disconnect()
    }
  })

  it('is seen by the token that the client presents now, where the one from before is gone', async () => {
    const { service, thing, other } = await start()
    const first = await service.connectThing(thing, session)
    await first.subscribeAll(filtersOf(thing.thingToken))
    await first.disconnect()
    const [{ tokenId } = { tokenId: '' }] = await service.things.registry.tokens(thing.thingId)
    await service.things.registry.removeToken(thing.thingId, tokenId)
    await post(service, other, reading('missed'))
    const second = await service.connectThing(other, session)
    expect((await nextOn(second, '/n')).topic).toBe(`things/${other.thingToken}/values/n`)
    const ref = other.thingToken
    expect(await refsTold(service, other, second)).toEqual([ref, ref, ref])
  })

  const latest = [
    ['the id', ['token', 'id'], 'id'],
    ['the token', ['id', 'token'], 'token'],
    ['the id, the same filter in between', ['id', 'token', 'id'], 'id'],
  ] as const

  it.each(latest)('is seen as its latest subscription spelled it: by %s', async (_name, spelled, seen) => {
    const { service, thing, aliases } = await start()
    const first = await service.connectThing(thing, session)
    for (const [index, spelling] of spelled.entries()) {
      const [values = '', errors = '', whole = ''] = filtersOf(aliases[spelling])
      const filter = [values, errors, values][index] ?? values
      await first.subscribeAll(index === 0 ? [filter, whole] : [filter])
    }
    await first.disconnect()
    await post(service, thing, reading('missed'))
    const second = await service.connectThing(thing, session)
    expect((await nextOn(second, '/n')).topic).toBe(`things/${aliases[seen]}/values/n`)
  })

  it('is seen by the id, if the client is the admin', async () => {
    const { service, thing, aliases } = await start()
    const { token, id } = aliases
    const visit = () => service.connect({ ...session, username: 'operator', password: service.adminKey })
    const first = await visit()
    await first.subscribeAll(filtersOf(token))
    expect(await refsTold(service, thing, first)).toEqual([token, token, token])
    await first.disconnect()
    const second = await visit()
    expect(await refsTold(service, thing, second)).toEqual([id, id, id])
    await second.subscribe(`things/${token}/values/nothing`)
    expect(await refsTold(service, thing, second)).toEqual([token, token, token])
  })
})

describe('UNSUBSCRIBE', () => {
  const names = ['token', 'id', 'second token'] as const
  const ways = names.flatMap(subscribed => names.map(named => [subscribed, named] as const))

  it.each(ways)(
    'ends a subscription by %s when it names the %s, also when the session is found again',
    async (subscribed, named) => {
      const { service, thing, aliases } = await start()
      const witness = await service.connectThing(thing)
      await witness.subscribe(`things/${thing.thingId}/values/mark`)
      const first = await service.connectThing(thing, session)
      await first.subscribeAll([`things/${aliases[subscribed]}/values/+`, `v2/things/${aliases[subscribed]}`])
      await first.unsubscribe(`things/${aliases[named]}/values/+`)
      await post(service, thing, reading(1))
      await nextOn(first, aliases[subscribed])
      await passed(service, thing, witness, first)
      const isRecord = ({ topic }: { topic: string }) => topic.includes('/values/')
      expect(messagesOf(first).filter(isRecord)).toEqual([])
      await first.disconnect()
      await post(service, thing, reading(2))
      const second = await service.connectThing(thing, session)
      await nextOn(second, aliases[subscribed === 'id' ? 'id' : 'token'])
      await second.unsubscribe(`v2/things/${aliases[named]}`)
      await post(service, thing, reading(3))
      await passed(service, thing, witness, second)
      expect(messagesOf(second).map(({ payload }) => JSON.parse(payload)[0].value)).toEqual([2])
    },
  )
})

describe('a token', () => {
  it('is in no file of the data directory, and in nothing that another client is sent', async () => {
    const { service, thing, other, aliases } = await start()
    const tokens = [thing.thingToken, other.thingToken]
    const admin = await service.connect({ username: 'operator', password: service.adminKey })
    await admin.subscribeAll(['things/+/#', 'v2/things/+'])
    const neighbours = [await service.connectThing(other), await service.connect(), admin]
    await neighbours[0]?.subscribeAll([`things/${thing.thingId}/#`, `v2/things/${thing.thingId}`])

    const will = { topic: writeTopicOf(thing.thingToken), payload: reading('will') }
    const [token = '', second = ''] = tokens
    const first = await service.connectThing(thing, { ...session, clientId: `board ${token}`, will })
    await first.subscribeAll([...filtersOf(token), ...filtersOf(second), `things/${token}/#`])
    const device = await service.connect({ acknowledges: false, username: second, ...session })
    await device.subscribeAll([...filtersOf(token), `things/${second}/#`])
    await first.publish(
      writeTopicOf(token),
      { values: [{ key: 'token', value: 1 }] },
      { qos: 2, retain: true },
    )
    await first.publish(`things/${token}/no/write/topic`, `it is ${token}`)
    await first.publish(writeTopicOf(second), `{"values":"${token}"}`)
    await first.publishUntilPubrec(writeTopicOf(token), reading(1))
    await device.next(isOf('publish'))
    await device.destroy()
    await first.destroy()
    await service.committed(thing)
    await post(service, thing, reading('missed'))
    await passed(service, thing, admin, ...neighbours)

    for (const client of neighbours) {
      const text = messagesOf(client)
        .map(({ topic, payload }) => `${topic} ${payload}`)
        .join('\n')
      expect(tokens.filter(token => text.includes(token))).toEqual([])
    }
    expect(messagesOf(admin).some(({ topic }) => topic.startsWith(`things/${aliases.id}/`))).toBe(true)
    await service.things.live.log.trim()
    const restarted = await service.restart()
    await restarted.things.live.log.trim()
    await restarted.stop()
    expect(await filesWith(service.dataDir, tokens)).toEqual([])
  })
})

/** The files under a directory in which one of the words is, as text, base64 or in base 16. */
async function filesWith(directory: string, words: readonly string[]): Promise<string[]> {
  const forms = words.flatMap(word => {
    const bytes = [Buffer.from(word), Buffer.from(word, 'base64url')]
    return bytes.flatMap(form => [
      form,
      Buffer.from(form.toString('hex')),
      Buffer.from(form.toString('base64')),
    ])
  })
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const files = entries.filter(entry => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  expect(files.length).toBeGreaterThan(2)
  const contents = await Promise.all(files.map(async file => [file, await readFile(file)] as const))
  return contents.filter(([, bytes]) => forms.some(form => bytes.includes(form))).map(([file]) => file)
}
