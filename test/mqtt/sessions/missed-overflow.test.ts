import type { Packet } from 'mqtt-packet'
import { describe, expect, it } from 'vitest'
import type { Thing } from '../../helpers/http-client.ts'
import type { MqttClient } from '../../helpers/mqtt-client.ts'
import { DoorService } from '../door-service.ts'
import { isMark, latestOverHttp, messagesOf, numbers, passed, post, writeAll } from '../messages.ts'

/** Contract §7. */
const maximum = { messages: 1_000, bytes: 1024 * 1024 }
const session = { clientId: 'board', clean: false }

/** A session that is subscribed to the values of a thing, and now away. */
async function start(...filters: string[]) {
  const service = await DoorService.start()
  const thing = await service.createThing()
  const first = await service.connectThing(thing, session)
  for (const filter of [...filters, 'things/I/values/mark']) {
    await first.subscribe(filter.replace('I', thing.thingId))
  }
  await passed(service, thing, first)
  await first.disconnect()
  return { service, thing }
}

/** Comes back, and gives the payloads that it is sent until it has everything. */
async function comeBack(service: DoorService, thing: Thing, { isTooMuch = false } = {}): Promise<string[]> {
  const client = await service.connectThing(thing, session)
  await passed(service, thing, client)
  if (isTooMuch) await presentOf(service, thing, client)
  await client.disconnect()
  const messages = messagesOf(client).filter(message => !isMark(message))
  expect(messages.filter(({ retain }) => retain)).toHaveLength(isTooMuch ? 1 : 0)
  expect(messages.filter(({ dup }) => dup)).toEqual([])
  return messages.filter(({ retain }) => !retain).map(({ payload }) => payload)
}

/** Whoever has lost messages for good is shown the present, behind what it is sent again. */
async function presentOf(service: DoorService, thing: Thing, client: MqttClient): Promise<void> {
  const packet = await client.next(packet => packet.cmd === 'publish' && packet.retain)
  if (packet.cmd !== 'publish') return
  expect(packet.topic).toBe(`things/${thing.thingId}/values/n`)
  expect(packet.payload.toString()).toBe(await latestOverHttp(service, thing, 'n'))
  const places = client.received.flatMap((each, place) => (isMissed(each) ? [place] : []))
  expect(client.received.indexOf(packet)).toBeGreaterThan(Math.max(...places))
  // The next return is not shown it again.
  await client.ping()
}

function isMissed(packet: Packet): boolean {
  return packet.cmd === 'publish' && !packet.retain && packet.topic.endsWith('/n')
}

/** Writes of 100 records of the resource `n` each. */
async function writeHundreds(
  service: DoorService,
  thing: Thing,
  first: number,
  count: number,
): Promise<void> {
  for (const hundred of numbers(count)) {
    const values = numbers(100, first + hundred * 100).map(value => ({ key: 'n', value }))
    await post(service, thing, { values })
  }
}

const valuesIn = (payloads: readonly string[]) => payloads.map(payload => JSON.parse(payload).value)

describe('a session that missed', () => {
  it('1,000 messages gets all of them, and one more only the newest 1,000, at every return', async () => {
    const { service: before, thing } = await start('things/I/values/n')
    let service = before
    await writeHundreds(service, thing, 0, 10)
    expect(valuesIn(await comeBack(service, thing))).toEqual(numbers(1_000))
    await writeHundreds(service, thing, 1_000, 10)
    await writeAll(service, thing, 'one more')
    service = await service.restart()
    const oneMore = await comeBack(service, thing, { isTooMuch: true })
    expect(valuesIn(oneMore)).toEqual([...numbers(999, 1_001), 'one more'])
    await writeHundreds(service, thing, 3_000, 35)
    const many = await comeBack(service, thing, { isTooMuch: true })
    expect(valuesIn(many)).toEqual(numbers(1_000, 5_500))
    await writeAll(service, thing, 'few', 'again')
    expect(valuesIn(await comeBack(service, thing))).toEqual(['few', 'again'])
  })

  it('counts messages, not writes: those of the records and of the whole write', async () => {
    const { service, thing } = await start('things/I/values/n', 'v2/things/I')
    await writeHundreds(service, thing, 0, 12)
    const payloads = await comeBack(service, thing, { isTooMuch: true })
    expect(payloads).toHaveLength(maximum.messages)
    // 101 for each write, from the newest on.
    const expected = numbers(12).flatMap(hundred => [
      ...numbers(100, hundred * 100),
      numbers(100, hundred * 100),
    ])
    const seen = payloads.map(payload => {
      const parsed = JSON.parse(payload)
      return Array.isArray(parsed) ? parsed.map(({ value }) => value) : parsed.value
    })
    expect(seen).toEqual(expected.slice(-maximum.messages))
  })

  it('1 MiB gets all of it, and of more the newest that is not more', async () => {
    const { service, thing } = await start('things/I/values/n')
    const empty = '{"key":"n","value":"","datetime":"2026-11-21T09:30:00.000Z"}'.length
    const write = async (count: number, bytes: number, first = 0) => {
      for (const index of numbers(count, first)) {
        const value = String(index).padEnd(bytes - empty, '.')
        await post(service, thing, { values: [{ key: 'n', value }] })
      }
    }
    const indexes = (payloads: readonly string[]) =>
      valuesIn(payloads).map(value => Number.parseInt(value, 10))
    const size = 32 * 1024
    const fitting = maximum.bytes / size
    await write(fitting, size)
    const all = await comeBack(service, thing)
    expect(all.map(({ length }) => length)).toEqual(numbers(fitting).map(() => size))
    expect(indexes(all)).toEqual(numbers(fitting))

    await write(fitting, size, 100)
    await write(1, empty + 3, 200)
    const isTooMuch = true
    const more = await comeBack(service, thing, { isTooMuch })
    expect(indexes(more)).toEqual([...numbers(fitting - 1, 101), 200])
    await write(fitting + 20, size, 300)
    expect(indexes(await comeBack(service, thing, { isTooMuch }))).toEqual(numbers(fitting, 320))
  })

  it('more than fits, part of it sent before, gets the newest, and owes nothing of the rest', async () => {
    const { service, thing } = await start('things/I/values/n')
    const deaf = await service.connect({ acknowledges: false, username: thing.thingToken, ...session })
    await writeAll(service, thing, ...numbers(20))
    const ids: (number | undefined)[] = []
    for (const _ of numbers(20)) {
      const packet = await deaf.next(({ cmd }) => cmd === 'publish')
      ids.push(packet.messageId)
    }
    await deaf.destroy()
    await writeHundreds(service, thing, 20, 9)
    await writeAll(service, thing, ...numbers(90, 920))
    const client = await service.connectThing(thing, session)
    await passed(service, thing, client)
    await presentOf(service, thing, client)
    const seen = messagesOf(client, '/n').filter(({ retain }) => !retain)
    expect(seen.map(({ payload }) => JSON.parse(payload).value)).toEqual(numbers(1_000, 10))
    expect(seen.map(({ dup }) => dup)).toEqual(numbers(1_000, 10).map(value => value < 20))
    const again = client.received.flatMap(packet =>
      packet.cmd === 'publish' && packet.dup ? [packet.messageId] : [],
    )
    expect(again).toEqual(ids.slice(10))
    await client.disconnect()
    expect(await comeBack(service, thing)).toEqual([])
  })

  it('more than fits of a busy thing still has its place among what is live', async () => {
    const { service, thing } = await start('things/I/values/n')
    await writeHundreds(service, thing, 0, 15)
    const writing = writeHundreds(service, thing, 1_500, 15)
    const client = await service.connectThing(thing, session)
    await writing
    await passed(service, thing, client)
    const values = messagesOf(client, '/n')
      .filter(({ retain }) => !retain)
      .map(({ payload }) => JSON.parse(payload).value as number)
    expect(values.length).toBeGreaterThanOrEqual(1_000)
    expect(values).toEqual(numbers(values.length, 3_000 - values.length))
    await client.disconnect()
  })

  it('a write that does not fit beside what came after it gets only that', async () => {
    const { service, thing } = await start('v2/things/I')
    const values = numbers(17).map(index => ({ key: 'n', value: `${index}`.padEnd(60 * 1024, '.') }))
    const after = 'after'.padEnd(5 * 1024, '.')
    await post(service, thing, { values })
    expect(await comeBack(service, thing)).toEqual([JSON.stringify(values)])
    await post(service, thing, { values })
    await writeAll(service, thing, after)
    expect(await comeBack(service, thing)).toEqual([JSON.stringify([{ key: 'n', value: after }])])
  })
})
