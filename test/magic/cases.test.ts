import assert from 'node:assert/strict'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Thing } from '../doors/door.ts'
import { httpDoor } from '../doors/http-door.ts'
import { MqttWriter } from '../doors/mqtt-writer.ts'
import { ReadBack } from '../doors/read-back.ts'
import { createThing, write } from '../helpers/http-client.ts'
import { connectMqtt, isMessageOn, isOf, type MqttClient } from '../helpers/mqtt-client.ts'
import { eventually } from '../helpers/waiting.ts'
import type { MagicCase, RemoveStep, Told, WriteStep } from './case.ts'
import { cases } from './cases/index.ts'
import { type MagicService, startMagicService } from './service.ts'

let service: MagicService
beforeAll(async () => {
  service = await startMagicService()
})
afterAll(() => service.close())

interface Door {
  write(step: WriteStep): Promise<void>
  close(): Promise<void>
}

const doors: Readonly<Record<string, (thing: Thing, index: number) => Promise<Door>>> = {
  HTTP: async thing => {
    const door = httpDoor(service.url, 'query')
    return {
      write: async ({ values, options, refused }) => {
        const answer = await door.write(thing, { body: { values }, ...(options && { options }) })
        if (refused) expect(answer).toMatchObject({ refused })
        else expect(answer).toHaveProperty('created')
      },
      close: () => door.close(),
    }
  },
  MQTT: async (thing, index) => {
    const writer = await MqttWriter.open(service, thing, { url: service.mqttUrl, qos: 1, variant: index })
    return {
      write: async ({ values, options, refused }) => {
        const told = await writer.write(Buffer.from(JSON.stringify({ values, ...options })))
        expect(told?.reason).toBe(refused)
      },
      close: () => writer.destroy(),
    }
  },
}

describe('the table of magic resources', () => {
  it('holds at least 80 rows, each under a name of its own', () => {
    expect(cases.length).toBeGreaterThanOrEqual(80)
    expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length)
  })
})

for (const [door, open] of Object.entries(doors)) {
  describe.concurrent(door, () => {
    for (const [index, row] of cases.entries()) {
      it(row.name, async ({ onTestFinished }) => {
        const thing = await createThing(service)
        const opened = await open(thing, index)
        onTestFinished(() => opened.close())
        const subscriber = await subscribe(thing)
        onTestFinished(() => subscriber.destroy())
        for (const step of row.steps) await ('remove' in step ? remove(thing, step) : opened.write(step))
        await service.things.magic.whenApplied()
        await check(thing, row)
        expect(await liveStates(thing, subscriber)).toEqual(row.told)
      })
    }
  })
}

async function remove({ thingId }: Thing, { remove, range = '' }: RemoveStep): Promise<void> {
  const url = `${service.url}/v2/things/${thingId}/resources/${remove}?${range}`
  const headers = { authorization: service.adminKey }
  const response = await fetch(url, { method: 'DELETE', headers })
  expect(await response.json()).toMatchObject({ status: 'success' })
}

async function check(thing: Thing, row: MagicCase): Promise<void> {
  expect(toldOf(thing)).toEqual(row.told)
  const expected = { $geo: undefined, $settings: undefined, ...row.states }
  for (const [key, value] of Object.entries(expected)) {
    const items = await newest(thing, key)
    expect(items.map(item => item.value)).toEqual(value === undefined ? [] : [value])
    expect(items.every(item => item.key === key)).toBe(true)
    if (key === '$geo' && row.positionTime) expect(items[0]?.datetime).toBe(row.positionTime)
  }
  const readBack = new ReadBack(service, thing)
  for (const [key, values] of Object.entries({ $geo: [], $settings: [], ...row.history })) {
    expect((await readBack.records(key, 'asc')).map(({ value }) => value)).toEqual(values)
  }
  const { notApplied = [] } = row
  const later = async () =>
    (await readBack.refusedWrites()).filter(({ door }) => door === 'magic').toReversed()
  // No write waits until it is listed that it was not applied.
  await eventually(async () => (await later()).length >= notApplied.length)
  expect((await later()).map(({ reason }) => reason)).toEqual(notApplied)
}

async function subscribe({ thingId, thingToken }: Thing): Promise<MqttClient> {
  const client = await connectMqtt({ url: service.mqttUrl, username: thingToken })
  expect(await client.subscribe(`things/${thingId}/values/#`)).toBe(1)
  return client
}

/** The states that came live, to the last: what is written now comes behind them. */
async function liveStates(thing: Thing, subscriber: MqttClient): Promise<Told[]> {
  const topic = (key: string) => `things/${thing.thingId}/values/${key}`
  await write(service, thing, { values: [{ key: 'end', value: 1 }] })
  await subscriber.next(isMessageOn(topic('end')))
  const messages = subscriber.received.filter(isOf('publish'))
  return messages
    .filter(message => message.topic.startsWith(topic('$')))
    .map(({ topic, payload }): Told => {
      const key = topic.slice(topic.indexOf('$'))
      if (payload.length === 0) return [key, undefined]
      const record = JSON.parse(payload.toString()) as { key: string; value: unknown }
      expect(record.key).toBe(key)
      return [key, record.value]
    })
}

function toldOf({ thingId }: Thing): Told[] {
  const told = service.commitsOf(thingId).filter(({ broadcast }) => broadcast)
  return told.flatMap(({ latest }) =>
    latest
      .filter(({ key }) => key.startsWith('$'))
      .map(({ key, record }): Told => [key, record && JSON.parse(record.value)]),
  )
}

interface Item {
  readonly key: string
  readonly value: unknown
  readonly datetime: string
}

/** What `GET …/resources/<key>` gives; nothing for a key that was never written. */
async function newest({ thingToken }: Thing, key: string): Promise<readonly Item[]> {
  const response = await fetch(`${service.url}/v2/things/${thingToken}/resources/${key}`)
  const body: unknown = await response.json()
  if (response.status === 404) return []
  assert.equal(response.status, 200)
  return body as readonly Item[]
}
