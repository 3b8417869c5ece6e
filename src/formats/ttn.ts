import type {
  DeviceDescription,
  Fact,
  Message,
  Outcome,
  Post,
  SentRecord,
  SourceFormat,
  SourceReader,
} from './format.ts'
import { decode, membersOf, textOf, unreadable } from './payload.ts'
import { flatten, recordsAt, zonedTime } from './reading.ts'
import {
  codecReadings,
  describedBy,
  isWriteId,
  KnownDevices,
  type Members,
  mistakeAt,
  numberOf,
  positionOf,
  signalOf,
} from './webhook.ts'

/** The Things Stack v3 (The Things Network), by webhook, or from its MQTT server by a bridge: `v3/<application>/devices/<device>/up`. */
export const ttn: SourceFormat = { name: 'ttn', begin: () => new TtnReader() }

const topics = /^v3\/[^/]+\/devices\/[^/]+\/(?:up|up\/normalized|location\/solved)$/
const normalized = 'normalized_payload'

/** The units of the normalized payload stand in its schema: TheThingsNetwork/lorawan-devices, `lib/payload.json`. */
const descriptions = describedBy([
  { unit: 'dBm', keys: ['rssi'] },
  { unit: 'dB', keys: ['snr'] },
  { unit: '%', keys: ['last_battery_percentage'] },
  ...[
    { unit: '°C', keys: ['air.temperature', 'soil.temperature'] },
    { unit: '°C', keys: ['min', 'max', 'avg', 'current'].map(name => `water.temperature.${name}`) },
    { unit: '%', keys: ['air.relativeHumidity', 'soil.moisture'] },
    { unit: 'hPa', keys: ['air.pressure'] },
    { unit: 'ppm', keys: ['air.co2', 'soil.n', 'soil.p', 'soil.k'] },
    { unit: 'lx', keys: ['air.lightIntensity'] },
    { unit: 'cm', keys: ['soil.depth'] },
    { unit: 'dS/m', keys: ['soil.ec'] },
    { unit: 'm/s', keys: ['wind.speed'] },
    { unit: '°', keys: ['wind.direction', 'position.latitude', 'position.longitude'] },
    { unit: 'mm/h', keys: ['rain.intensity'] },
    { unit: 'mm', keys: ['rain.cumulative'] },
    { unit: 'L', keys: ['metering.water.total'] },
    { unit: 'V', keys: ['battery'] },
  ].map(({ unit, keys }) => ({ unit, keys: keys.map(key => `${normalized}.${key}`) })),
])

class TtnReader implements SourceReader {
  readonly #devices = new KnownDevices(descriptions)

  knows(topic: string): 'form' | undefined {
    return topics.test(topic) ? 'form' : undefined
  }

  read({ payload }: Message): Outcome {
    const decoded = decode(payload)
    return this.#read(decoded?.json) ?? unreadable(decoded, 'a JSON object with end_device_ids')
  }

  readPost({ body }: Post): Outcome | undefined {
    return this.#read(body)
  }

  learn(name: string, fact: Fact | null): void {
    this.#devices.learn(name, fact)
  }

  describe(device: string): DeviceDescription | undefined {
    return this.#devices.describe(device)
  }

  /** Every event has `end_device_ids` and one member that names it. Those of joins, downlinks and services hold no reading. */
  #read(body: unknown): Outcome | undefined {
    const event = membersOf(body)
    const ids = membersOf(event?.end_device_ids)
    if (!event || !ids) return undefined
    const name = textOf(ids.device_id)
    if (name === undefined) return mistakeAt('end_device_ids.device_id', 'must be a text that is not empty')
    // A device id is unique in its application alone, and the DevEUI is not in every event.
    const device = [textOf(membersOf(ids.application_ids)?.application_id), name].filter(Boolean).join('/')
    const uplink = membersOf(event.uplink_message)
    if (!uplink) {
      const records = [...normalizedRecords(event), ...solvedRecords(event)]
      return this.#devices.outcome({ device, records }, name)
    }
    const writeId = uplinkId(event.correlation_ids)
    const reading = { device, records: uplinkRecords(uplink, event), ...(writeId && { writeId }) }
    const outcome = this.#devices.outcome(reading, name)
    const isUndecoded = !membersOf(uplink.decoded_payload) && Boolean(uplink.frm_payload)
    return isUndecoded ? { ...outcome, unread: [{ device, ...undecoded }] } : outcome
  }
}

const undecoded = {
  place: 'uplink_message.decoded_payload',
  reason:
    'must be an object, but it is missing: the application or the device needs a payload formatter in The Things Stack',
}

/** The correlation id of an uplink. The events that follow from the uplink share it, so they get no write id. */
function uplinkId(correlationIds: unknown): string | undefined {
  const ids: readonly unknown[] = Array.isArray(correlationIds) ? correlationIds : []
  return ids.filter(isWriteId).find(id => id.startsWith('as:up:'))
}

function uplinkRecords(uplink: Members, event: Members): readonly SentRecord[] {
  const receivedAt = timeOf(uplink, event)
  const battery = membersOf(uplink.last_battery_percentage)
  const charge = numberOf(battery?.value)
  // Each uplink repeats the charge, with the time at which the device reported it.
  const charges = charge === undefined ? [] : [{ key: 'last_battery_percentage', value: charge }]
  return [
    ...recordsAt(
      [
        ...codecReadings(membersOf(uplink.decoded_payload) ?? {}, 'decoded_payload', descriptions),
        ...signalOf(uplink.rx_metadata),
        ...locationOf(membersOf(uplink.locations) ?? {}),
      ],
      receivedAt,
    ),
    ...recordsAt(charges, zonedTime(battery?.received_at) ?? receivedAt),
  ]
}

/** A location that a service found comes before the one that a person entered, since the device may have moved. */
function locationOf(locations: Members): readonly SentRecord[] {
  const service = Object.keys(locations).find(name => name !== 'user') ?? 'user'
  const location = membersOf(locations[service])
  return positionOf(location?.latitude, location?.longitude)
}

/** An application can send one such event for each measurement in an uplink, besides the uplink itself. */
function normalizedRecords(event: Members): readonly SentRecord[] {
  const uplink = membersOf(event.uplink_normalized)
  const measurement = membersOf(uplink?.normalized_payload)
  if (!uplink || !measurement) return []
  const readings = flatten(measurement, normalized, path => path !== `${normalized}.time`)
  return recordsAt(readings, zonedTime(measurement.time) ?? timeOf(uplink, event))
}

function solvedRecords(event: Members): readonly SentRecord[] {
  const location = membersOf(membersOf(event.location_solved)?.location)
  return recordsAt(positionOf(location?.latitude, location?.longitude), zonedTime(event.received_at))
}

/** When the network server received an uplink; a simulated one has the year 1 there. */
function timeOf(uplink: Members, event: Members): string | undefined {
  return zonedTime(uplink.received_at) ?? zonedTime(event.received_at)
}
