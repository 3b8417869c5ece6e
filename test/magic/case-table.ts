import assert from 'node:assert/strict'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import type { WriteOptions } from '../../src/core/parse.ts'
import type { Commit } from '../../src/core/ports.ts'
import type { Reason } from '../../src/errors.ts'
import { createLevelStore } from '../../src/store/level/index.ts'
import { httpDoor } from '../doors/doors.ts'
import { openMqttWriter } from '../doors/mqtt-writer.ts'
import { ReadBack } from '../doors/read-back.ts'
import { ask, createThing, write as post, type ReadRecord, type Thing } from '../helpers/http-client.ts'
import { connectMqtt, isMessageOn, isOf, type MqttClient } from '../helpers/mqtt-client.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { eventually } from '../helpers/waiting.ts'
import { DoorService } from '../mqtt/door-service.ts'

/** A write through a door. */
export interface WriteStep {
  readonly values: readonly object[]
  readonly options?: WriteOptions
  /** Why it is refused, if it is. */
  readonly refused?: Reason
}

/** A DELETE by the operator. */
export interface RemoveStep {
  readonly remove: string
  /** Query, such as `endDate=20260101000000`. */
  readonly range?: string
}

/** A row of the table: writes to a thing of its own, one after another, and what comes of them. */
export interface MagicCase {
  readonly name: string
  readonly steps: readonly (WriteStep | RemoveStep)[]
  /** Values by key as `GET …/resources/<key>` gives them in the end; `$geo`, `$settings` and `$meta` that are not here have none. */
  readonly states: Readonly<Record<string, unknown>>
  /** Measurement time of the position in the end, where it was given. */
  readonly positionTime?: string
  /** Values of what was written under each key, oldest first; `$geo`, `$settings` and `$meta` that are not here have none. */
  readonly history: Readonly<Record<string, readonly unknown[]>>
  /** The states that are announced, in order. */
  readonly told: readonly Told[]
  /** Why records of acknowledged writes were not applied, in order. */
  readonly notApplied?: readonly Reason[]
}

/** A state that is announced; undefined: there is none any more. */
export type Told = readonly [key: string, value: unknown]

/** A write of these records. */
export function write(...values: object[]): WriteStep {
  return { values }
}

/** A write with flags. */
export function writeWith(options: WriteOptions, ...values: object[]): WriteStep {
  return { values, options }
}

/** A write that is refused. */
export function refusedWrite(refused: Reason, ...values: object[]): WriteStep {
  return { values, refused }
}

export function point(long: number, lat = 0): object {
  return { type: 'Point', coordinates: [long, lat] }
}

/** A record of `$geo` at a second of one minute; without one, at receipt. */
export function at(long: number, second?: number): object {
  return { key: '$geo', value: [long, 0], ...(second !== undefined && { datetime: secondTime(second) }) }
}

export function secondTime(second: number): string {
  return `2026-01-02T03:04:${String(second).padStart(2, '0')}.000Z`
}

export function patch(value: object, datetime?: string): object {
  return { key: '$settings', value, ...(datetime !== undefined && { datetime }) }
}

export function set(path: string, value: unknown): object {
  return { key: `$settings.${path}`, value }
}

export function toldSettings(...documents: unknown[]): Told[] {
  return documents.map(document => ['$settings', document] as const)
}

/** A patch of the descriptions. */
export function describeAs(value: object, datetime?: string): object {
  return { ...patch(value, datetime), key: '$meta' }
}

export function toldMeta(...documents: unknown[]): Told[] {
  return documents.map(document => ['$meta', document] as const)
}

export function toldPositions(...longs: number[]): Told[] {
  return longs.map(long => ['$geo', point(long)] as const)
}

let service: DoorService
/** By thing. */
const commits = new Map<string, Commit[]>()

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
    const writer = await openMqttWriter(service, thing, { url: service.mqttUrl, qos: 1, variant: index })
    return {
      write: async ({ values, options, refused }) => {
        const told = await writer.write(Buffer.from(JSON.stringify({ values, ...options })))
        expect(told?.reason).toBe(refused)
      },
      close: () => writer.destroy(),
    }
  },
}

/** Tries each row through either door: what is stored, announced, live and retained (contract §5). */
export function tryCases(cases: readonly MagicCase[]): void {
  beforeAll(async () => {
    const ends: (() => Promise<void>)[] = []
    const onEnd = (end: () => Promise<void>) => void ends.push(end)
    const location = join(await temporaryDirectory(onEnd), 'store')
    service = await DoorService.start({ store: createLevelStore({ location, durability: 'written' }), onEnd })
    service.things.records.onCommit(commit => {
      commits.set(commit.thingId, [...(commits.get(commit.thingId) ?? []), commit])
    })
    return async () => {
      for (const end of ends.toReversed()) await end()
    }
  })

  it('has rows with names of their own', () => {
    expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length)
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
          const later = await subscribe(thing)
          onTestFinished(() => later.destroy())
          const states = Object.entries(row.states).filter(([key]) => !key.includes('.'))
          expect(Object.fromEntries(await shownStates(thing, later))).toEqual(Object.fromEntries(states))
          expect(await shownStates(thing, subscriber)).toEqual(row.told)
        })
      }
    })
  }
}

async function remove({ thingId }: Thing, { remove, range = '' }: RemoveStep): Promise<void> {
  const path = `/v2/things/${thingId}/resources/${remove}?${range}`
  expect(await ask(service, 'DELETE', path)).toMatchObject({ status: 'success' })
}

async function check(thing: Thing, row: MagicCase): Promise<void> {
  expect(toldOf(thing)).toEqual(row.told)
  const expected = { $geo: undefined, $settings: undefined, $meta: undefined, ...row.states }
  for (const [key, value] of Object.entries(expected)) {
    const items = await newest(thing, key)
    expect(items.map(item => item.value)).toEqual(value === undefined ? [] : [value])
    expect(items.every(item => item.key === key)).toBe(true)
    if (key === '$geo' && row.positionTime) expect(items[0]?.datetime).toBe(row.positionTime)
  }
  const readBack = new ReadBack(service, thing)
  for (const [key, values] of Object.entries({ $geo: [], $settings: [], $meta: [], ...row.history })) {
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

/** The states that came, retained and live, to the last: what is written now comes behind them. */
async function shownStates(thing: Thing, subscriber: MqttClient): Promise<Told[]> {
  const topic = (key: string) => `things/${thing.thingId}/values/${key}`
  await post(service, thing, { values: [{ key: 'end', value: 1 }] })
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
  const told = (commits.get(thingId) ?? []).filter(({ broadcast }) => broadcast)
  return told.flatMap(({ latest }) =>
    latest
      .filter(({ key }) => key.startsWith('$'))
      .map(({ key, record }): Told => [key, record && JSON.parse(record.value)]),
  )
}

/** What `GET …/resources/<key>` gives; nothing for a key that was never written. */
async function newest({ thingToken }: Thing, key: string): Promise<readonly ReadRecord[]> {
  const response = await fetch(`${service.url}/v2/things/${thingToken}/resources/${key}`)
  const body: unknown = await response.json()
  if (response.status === 404) return []
  assert.equal(response.status, 200)
  return body as readonly ReadRecord[]
}
