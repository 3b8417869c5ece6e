import { describe, expect, it } from 'vitest'
import type { Thing } from '../../helpers/http-client.ts'
import { DoorService, reading } from '../door-service.ts'
import { isMark, messagesOf, nextOn, numbers, passed, post, writeAll } from '../messages.ts'

const session = { clientId: 'board', clean: false }

/** The values of the records in the commit log, oldest first. */
async function logged({ things }: DoorService): Promise<unknown[]> {
  const values: unknown[] = []
  for await (const { records } of things.live.log.read({
    after: 0,
    before: Number.POSITIVE_INFINITY,
    order: 'asc',
  })) {
    values.push(...records.map(({ value }) => JSON.parse(value)))
  }
  return values
}

/** Leaves a session behind, with these subscriptions at QoS 1. */
async function leaveSession(
  service: DoorService,
  thing: Thing,
  clientId: string,
  ...rests: string[]
): Promise<void> {
  const client = await service.connectThing(thing, { clientId, clean: false })
  await client.subscribeAll([...rests, 'values/mark'].map(rest => `things/${thing.thingId}/${rest}`))
  await passed(service, thing, client)
  await client.disconnect()
}

async function comeBack(service: DoorService, thing: Thing, clientId: string): Promise<unknown[]> {
  const client = await service.connectThing(thing, { clientId, clean: false })
  await passed(service, thing, client)
  await client.disconnect()
  return messagesOf(client)
    .filter(message => !isMark(message))
    .map(({ payload }) => JSON.parse(payload).value)
}

describe('the commit log', () => {
  it('holds nothing where there is no session that could miss it', async () => {
    const service = await DoorService.start()
    const [thing, other] = [await service.createThing(), await service.createThing()]
    await (await service.connectThing(thing, session)).disconnect()
    const live = await service.connectThing(thing)
    await live.subscribe(`things/${thing.thingId}/values/+`)
    const zero = await service.connectThing(thing, { ...session, clientId: 'at QoS 0' })
    await zero.subscribe(`things/${thing.thingId}/#`, 0)
    await leaveSession(service, other, 'of another thing', '#')
    await writeAll(service, thing, 1, 2)
    await passed(service, thing, live)
    await service.things.live.log.trim()
    expect(await logged(service)).toEqual([])
  })

  it('holds what a session may miss until it has acknowledged it', async () => {
    const { service, thing } = await start()
    await leaveSession(service, thing, 'board', 'values/n')
    await writeAll(service, thing, ...numbers(5))
    await post(service, thing, reading('not wanted', 'other'))
    await post(service, thing, { ...reading('live only'), store: false })
    await post(service, thing, { ...reading('silent'), broadcast: false })
    await service.things.live.log.trim()
    expect(await logged(service)).toEqual(numbers(5))
    expect(await comeBack(service, thing, 'board')).toEqual(numbers(5))
    await writeAll(service, thing, 5)
    await service.things.live.log.trim()
    expect(await logged(service)).toEqual([5])
    expect(await comeBack(service, thing, 'board')).toEqual([5])
  })

  it('holds what one of several sessions has not got, whichever that is', async () => {
    const { service: before, thing } = await start()
    let service = before
    await leaveSession(service, thing, 'a', 'values/n')
    await writeAll(service, thing, 1, 2)
    await leaveSession(service, thing, 'b', 'values/n')
    await writeAll(service, thing, 3)
    await service.things.live.log.trim()
    expect(await logged(service)).toEqual([1, 2, 3])
    expect(await comeBack(service, thing, 'a')).toEqual([1, 2, 3])
    service = await service.restart()
    await writeAll(service, thing, 4)
    await service.things.live.log.trim()
    expect(await logged(service)).toEqual([3, 4])
    expect(await comeBack(service, thing, 'b')).toEqual([3, 4])
    expect(await comeBack(service, thing, 'a')).toEqual([4])
  })

  it('holds what was sent and not acknowledged, also where later messages were', async () => {
    const { service, thing } = await start()
    await leaveSession(service, thing, 'board', 'values/n')
    const deaf = await service.connect({ acknowledges: false, username: thing.thingToken, ...session })
    await writeAll(service, thing, ...numbers(6))
    const ids: number[] = []
    for (const _ of numbers(6)) {
      const packet = await deaf.next(({ cmd }) => cmd === 'publish')
      ids.push(packet.messageId ?? 0)
    }
    for (const place of [0, 1, 3, 4]) deaf.send({ cmd: 'puback', messageId: ids[place] ?? 0 })
    await deaf.ping()
    await deaf.destroy()
    await writeAll(service, thing, 6)
    await service.things.live.log.trim()
    expect(await comeBack(service, thing, 'board')).toEqual([2, 5, 6])
  })

  it('holds no more for a session than that may get', async () => {
    const { service, thing } = await start()
    await leaveSession(service, thing, 'board', 'values/n')
    await writeAll(service, thing, ...numbers(1_010))
    await service.things.live.log.trim()
    expect(await logged(service)).toEqual(numbers(1_000, 10))
    expect(await comeBack(service, thing, 'board')).toEqual(numbers(1_000, 10))
  })

  it('holds nothing for a session whose subscriptions, or that itself, are gone', async () => {
    const { service, thing } = await start()
    await leaveSession(service, thing, 'a', 'values/n')
    await leaveSession(service, thing, 'b', 'values/n')
    await writeAll(service, thing, 1)
    const a = await service.connectThing(thing, { clientId: 'a', clean: false })
    await nextOn(a, '/n')
    await a.unsubscribe(`things/${thing.thingId}/values/n`)
    await a.disconnect()
    await writeAll(service, thing, 2)
    await service.things.live.log.trim()
    expect(await logged(service)).toEqual([1, 2])
    await (await service.connectThing(thing, { clientId: 'b', clean: true })).disconnect()
    await writeAll(service, thing, 3)
    await service.things.live.log.trim()
    expect(await logged(service)).toEqual([])
  })

  it('keeps what a session may miss while it is trimmed all the time', async () => {
    const { service, thing } = await start()
    await leaveSession(service, thing, 'board', 'values/n')
    let isOver = false
    const trim = async () => {
      while (!isOver) {
        await service.things.live.log.trim()
        await new Promise(resolve => setImmediate(resolve))
      }
    }
    const trimming = trim()
    const seen: unknown[] = []
    for (const round of numbers(15)) {
      const writing = writeAll(service, thing, ...numbers(20, round * 20))
      const client = await service.connectThing(thing, session)
      await client.subscribe(`things/${thing.thingId}/values/n`)
      if (round % 2) await writing
      await passed(service, thing, client)
      await client.disconnect()
      await writing
      const live = messagesOf(client, '/n').filter(({ retain }) => !retain)
      seen.push(...live.map(({ payload }) => JSON.parse(payload).value))
    }
    const client = await service.connectThing(thing, session)
    await passed(service, thing, client)
    const live = messagesOf(client, '/n').filter(({ retain }) => !retain)
    seen.push(...live.map(({ payload }) => JSON.parse(payload).value))
    isOver = true
    await trimming
    expect(seen).toEqual(numbers(300))
  })
})

async function start() {
  const service = await DoorService.start()
  return { service, thing: await service.createThing() }
}
