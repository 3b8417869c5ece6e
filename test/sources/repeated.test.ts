import type { MqttClient } from 'mqtt'
import { expect, it } from 'vitest'
import { createRedisStore } from '../../src/store/redis/index.ts'
import { redisOfTests } from '../helpers/redis-of-test.ts'
import { bridgeDevices, House } from './house.ts'

const redis = redisOfTests()

const ids = Array.from({ length: 20 }, (_, place) => place + 10)
const relays = Array.from({ length: 9 }, (_, relay) => relay)

/** What the devices of a house keep retained: more than 500 topics of 60 devices, which is as many as a node makes in a minute. */
const retained = Object.entries({
  'zigbee2mqtt/bridge/devices': bridgeDevices(Object.fromEntries(ids.map(id => [`0x${id}`, `z${id}`]))),
  ...Object.assign({}, ...ids.map(topicsOf)),
}) as readonly (readonly [topic: string, payload: string])[]

function topicsOf(id: number): Readonly<Record<string, string>> {
  const device = `"device":{"identifiers":["0x${id}"]}`
  const shelly = `shellies/shelly1pm-${id}`
  const outputs = relays.flatMap(relay => [
    [`${shelly}/relay/${relay}`, 'off'],
    [`${shelly}/relay/${relay}/power`, `${relay}.10`],
  ])
  return {
    [`zigbee2mqtt/z${id}`]: `{"power":${id}.50,"color":{"x":0.3,"y":0.4},"steps":[1,2],"none":null}`,
    [`zigbee2mqtt/z${id}/availability`]: '{"state":"online"}',
    [`tele/t${id}/LWT`]: 'Online',
    [`tele/t${id}/STATE`]: `{"Time":"2026-01-01T00:00:00","POWER":"ON","Wifi":{"RSSI":${id}}}`,
    [`tele/t${id}/SENSOR`]: `{"Time":"2026-01-01T00:00:00+01:00","ENERGY":{"Power":[1e2,${id}],"Total":1.0}}`,
    [`${shelly}/online`]: 'true',
    [`${shelly}/input/0`]: '0',
    ...Object.fromEntries(outputs),
    [`homeassistant/sensor/${id}/config`]: `{"state_topic":"announced/${id}","unit_of_measurement":"W",${device}}`,
    [`announced/${id}`]: `${id}.0`,
  }
}

const publishAll = (client: MqttClient, messages: typeof retained) =>
  Promise.all(
    messages.map(([topic, payload]) => client.publishAsync(topic, payload, { qos: 1, retain: true })),
  )

const limits = { writesPerSecond: 1_000_000, recordsPerSecond: 1_000_000 }
const places: readonly (readonly [where: string, shared: boolean, move: (house: House) => Promise<void>])[] =
  [
    ['the same server', false, async () => {}],
    ['a server that was started again', false, house => house.restart()],
    ['another node', true, house => house.moveTo({ store: createRedisStore({ url: redis.url }), limits })],
  ]

it.each(places)(
  'what is repeated with RETAIN after a CONNECT is stored once, on %s',
  async (_, isShared, move) => {
    const store = isShared && createRedisStore({ url: redis.url })
    const house = await House.open({ limits, ...(store && { store }) })
    const client = await house.connect('hub')
    // Of a client that sends again what waits for an ack, and then everything.
    await publishAll(
      client,
      retained.flatMap(message => [message, message]),
    )
    const records = await house.records()
    expect(await house.errors()).toEqual([])
    expect(Object.keys(records)).toHaveLength(60)
    expect(records.z10).toEqual({
      ...{ power: [10.5], 'color.x': [0.3], 'color.y': [0.4], steps: [[1, 2]], online: [true], 10: [10] },
      $meta: expect.anything(),
    })
    await client.endAsync()
    await move(house)
    await publishAll(await house.connect('hub'), retained)
    expect(await house.records()).toEqual(records)
  },
)
