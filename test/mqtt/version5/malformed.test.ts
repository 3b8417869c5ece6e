import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectAccepted, type MqttClient } from '../../helpers/mqtt-client.ts'
import { DoorService, reading, writeTopicOf } from '../door-service.ts'
import { adminKey } from './malformed/bytes.ts'
import type { Case, Groups } from './malformed/case.ts'
import { connectGroups } from './malformed/connects.ts'
import { outcomeOf } from './malformed/conversation.ts'
import { packetGroups } from './malformed/packets.ts'
import { propertyGroups, propertyIds } from './malformed/properties.ts'

/** What the OASIS text says of each packet, played to one server; beside it other clients get every message. */
const groups: Groups = { ...propertyGroups(), ...packetGroups(), ...connectGroups() }
const cases = Object.values(groups).flat()
const atOnce = 20

interface Bystander {
  readonly client: MqttClient
  readonly values: number[]
}

const ends: (() => Promise<unknown>)[] = []
let service: DoorService
let writer: MqttClient
let write: () => Promise<void>
let written = 0
const bystanders: Bystander[] = []

beforeAll(async () => {
  service = await DoorService.start({ adminKey, topics: ['tele/#'], onEnd: end => void ends.unshift(end) })
  const thing = await service.createThing()
  const { mqttUrl: url } = service
  const asThing = { url, username: 'device', password: thing.thingToken }
  for (const protocolVersion of [4, 5] as const) {
    const values: number[] = []
    const onMessage = ({ payload }: { payload: Buffer }) => values.push(JSON.parse(payload.toString()).value)
    const client = await connectAccepted({ ...asThing, protocolVersion, onMessage })
    expect(await client.subscribe(`things/${thing.thingId}/values/n`)).toBe(1)
    bystanders.push({ client, values })
  }
  writer = await connectAccepted({ ...asThing, protocolVersion: 5 })
  write = () => writer.publish(writeTopicOf(thing.thingId), reading(written++))
})

afterAll(async () => {
  await Promise.all([writer, ...bystanders.map(({ client }) => client)].map(client => client.destroy()))
  for (const end of ends) await end()
})

/** @returns what has come of each, by name */
async function play(tried: readonly Case[]): Promise<Map<Case, string>> {
  const outcomes = new Map<Case, string>()
  const waiting = tried.values()
  const playNext = async () => {
    for (const each of waiting) {
      const failure = (error: unknown) => (error instanceof Error ? error.message : String(error))
      const [outcome] = await Promise.all([outcomeOf(service.mqttUrl, each).catch(failure), write()])
      outcomes.set(each, outcome)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, playNext))
  return outcomes
}

describe('a packet of MQTT 5', () => {
  it('is tried in at least 1,400 cases, with each of the 27 properties', () => {
    expect(cases.length).toBeGreaterThanOrEqual(1_400)
    expect(new Set(propertyIds).size).toBe(27)
    for (const group of Object.values(groups)) {
      expect(new Set(group.map(({ name }) => name)).size).toBe(group.length)
    }
  })

  it.each(Object.entries(groups))('%s', async (_, group) => {
    const outcomes = await play(group)
    // Only what differs, so that a failure shows nothing else.
    const isRight = (each: Case) => [each.outcome, each.or].includes(outcomes.get(each))
    const wrong = group.filter(each => !isRight(each))
    const got = Object.fromEntries(wrong.map(each => [each.name, outcomes.get(each)]))
    expect(got).toEqual(Object.fromEntries(wrong.map(({ name, outcome }) => [name, outcome])))
  })
})

describe('beside all of them', () => {
  it('clients of 3.1.1 and 5 get every message once, in order', async () => {
    await Promise.all([play(groups['first bytes'] ?? []), write()])
    const all = Array.from({ length: written }, (_, value) => value)
    for (const { client, values } of bystanders) {
      await client.ping()
      await expect.poll(() => values.length).toBeGreaterThanOrEqual(written)
      expect(values).toEqual(all)
    }
  })
})
