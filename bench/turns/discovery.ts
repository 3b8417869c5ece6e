import { ask } from '../../test/helpers/http-client.ts'
import { connectAccepted, encodePackets, isOf, publishPacket } from '../../test/helpers/mqtt-client.ts'
import type { ServerProcess } from '../../test/helpers/server-process.ts'
import { settled } from '../compare/loaded.ts'
import { residentMemory } from '../peers/processes.ts'
import type { Product } from '../peers/product.ts'
import { median } from '../program.ts'
import type { TurnTimes } from './turns-preload.ts'
import type { WatchedTurns } from './watched-turns.ts'

const devices = 300
const announcements = 5_000
const parses = 21

/** About 2 MiB. */
const list = JSON.stringify(Array.from({ length: devices }, (_, place) => listed(place)))

export interface Discovery {
  readonly times: TurnTimes
  /** Longest turn, as a multiple of what JSON.parse takes of the list, by processor time. */
  readonly ratio: number
  /** Resident bytes more than before. */
  readonly memory: number
}

/** The list of devices of a Zigbee2MQTT, and then discovery messages of Home Assistant in one burst. @throws Error if not all are known */
export async function discover(product: Product, turns: WatchedTurns): Promise<Discovery> {
  const { server, processId } = product
  const source = await ask<{ sourceToken: string }>(server, 'POST', '/v2/admin/sources', { name: 'house' })
  const login = { url: server.mqttUrl, username: source.sourceToken, deadline: 600_000 }
  const client = await connectAccepted(login)
  await settled(product)
  const before = residentMemory(processId)
  const end = turns.watch()
  await client.publish('zigbee2mqtt/bridge/devices', list, { retain: true })
  const packets = Array.from({ length: announcements }, (_, place) => announced(place, place + 1_000))
  client.sendBytes(encodePackets(...packets))
  for (let place = 0; place < announcements; place++) await client.next(isOf('puback', place + 1_000))
  const times = await end()
  await settled(product)
  const memory = residentMemory(processId) - before
  await client.publish(`zigbee2mqtt/room/device-${devices - 1}`, { resource_0: 1 })
  await client.publish(`announced/${announcements - 1}`, { power: 1 })
  await assertKnown(server)
  await client.disconnect()
  return { times, memory, ratio: Math.max(...times.processor) / parseTime() }
}

/** @throws Error if a device has another name than it was announced with */
async function assertKnown(server: ServerProcess): Promise<void> {
  const path = '/v2/admin/things?limit=1000'
  const { things } = await ask<{ things: readonly { name: string }[] }>(server, 'GET', path)
  for (const name of [`room/device-${devices - 1}`, `Plug ${announcements - 1}`])
    if (!things.some(thing => thing.name === name)) throw new Error(`no thing is called ${name}`)
}

/** Processor time of JSON.parse of the list, milliseconds. */
function parseTime(): number {
  const bytes = Buffer.from(list)
  const times = Array.from({ length: parses }, () => {
    const begin = process.cpuUsage()
    JSON.parse(bytes.toString())
    const { user, system } = process.cpuUsage(begin)
    return (user + system) / 1_000
  })
  return median(times)
}

function listed(place: number): object {
  const exposes = Array.from({ length: 26 }, (_, index) => ({
    ...{ type: 'numeric', name: `resource_${index}`, label: `Resource ${index}`, access: 1 },
    ...{ property: `resource_${index}`, unit: 'W', value_min: 0, value_max: 65_535, value_step: 1 },
    description: 'Instantaneous measured value of this resource, as the device reports it',
  }))
  return {
    ...{ ieee_address: `0x${String(place).padStart(16, '0')}`, friendly_name: `room/device-${place}` },
    ...{ type: 'Router', network_address: place, supported: true, interview_completed: true },
    definition: { model: 'TS011F', vendor: 'Tuya', description: 'Smart plug', exposes, options: [] },
  }
}

function announced(place: number, messageId: number) {
  const config = {
    ...{ name: `Power ${place}`, unique_id: `plug-${place}-power`, device_class: 'power' },
    ...{ state_topic: `announced/${place}`, value_template: '{{ value_json.power }}' },
    ...{ unit_of_measurement: 'W', state_class: 'measurement' },
    device: { identifiers: [`plug-${place}`], name: `Plug ${place}`, manufacturer: 'Acme', model: 'P1' },
  }
  return publishPacket(`homeassistant/sensor/plug-${place}/power/config`, config, { messageId, retain: true })
}
