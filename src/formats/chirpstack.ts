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
  positionOf,
  signalOf,
} from './webhook.ts'

/**
 * ChirpStack, over MQTT (`application/<id>/device/<DevEUI>/event/up`) or by webhook (`?event=up`): version 4, and both forms of JSON of
 * version 3. Until 3.11 the topic ended in `/rx`.
 */
export const chirpstack: SourceFormat = { name: 'chirpstack', begin: () => new ChirpStackReader() }

const topics = /^application\/[^/]+\/device\/([^/]+)\/(?:event\/)?([a-z]+)$/

const descriptions = describedBy([
  { unit: 'dBm', keys: ['rssi'] },
  { unit: 'dB', keys: ['snr', 'margin'] },
  { unit: '%', keys: ['batteryLevel'] },
])

class ChirpStackReader implements SourceReader {
  readonly #devices = new KnownDevices(descriptions)

  knows(topic: string): 'form' | undefined {
    return topics.test(topic) ? 'form' : undefined
  }

  read({ topic, payload }: Message): Outcome {
    const [, devEui, name] = topics.exec(topic) ?? []
    const decoded = decode(payload)
    return decoded?.members && name
      ? this.#read(name, decoded.members, devEui)
      : unreadable(decoded, 'a JSON object, which ChirpStack sends with json=true, not Protobuf')
  }

  readPost({ body, query }: Post): Outcome | undefined {
    const event = membersOf(body)
    if (!event || (!membersOf(event.deviceInfo) && !textOf(event.devEUI))) return undefined
    const name = textOf(query.event)
    return name === undefined
      ? mistakeAt('', 'the query must name the event, such as ?event=up, but it does not')
      : this.#read(name, event)
  }

  learn(name: string, fact: Fact | null): void {
    this.#devices.learn(name, fact)
  }

  describe(device: string): DeviceDescription | undefined {
    return this.#devices.describe(device)
  }

  /** @param topicEui the DevEUI in the topic */
  #read(name: string, event: Members, topicEui?: string): Outcome {
    const info = membersOf(event.deviceInfo) ?? event
    const device = devEuiOf(info.devEui) ?? devEuiOf(event.devEUI) ?? devEuiOf(topicEui)
    if (device === undefined) return mistakeAt('deviceInfo.devEui', 'must be 16 hexadecimal digits')
    const decoded = decodedOf(event)
    const records = recordsAt(
      readingsOf(name, event, decoded),
      zonedTime(event.time) ?? zonedTime(event.publishedAt),
    )
    const id = textOf(event.deduplicationId) ?? ''
    // An uplink and the status in it have the same id.
    const writeId = isUplink(name) || id === '' ? id : `${name}:${id}`
    const reading = { device, records, ...(isWriteId(writeId) && { writeId }) }
    const outcome = this.#devices.outcome(reading, textOf(info.deviceName))
    const isUndecoded = isUplink(name) && !decoded && Boolean(event.data)
    return isUndecoded ? { ...outcome, unread: [{ device, ...undecoded }] } : outcome
  }
}

const undecoded = {
  place: 'object',
  reason: 'must be an object, but it is missing: the device profile needs a codec in ChirpStack',
}

function isUplink(event: string): boolean {
  return event === 'up' || event === 'rx'
}

/** The readings of an event; those of joins, downlinks and logs hold none. */
function readingsOf(name: string, event: Members, decoded: Members | undefined): readonly SentRecord[] {
  if (isUplink(name)) {
    return [...codecReadings(decoded ?? {}, 'object', descriptions), ...signalOf(event.rxInfo)]
  }
  const location = name === 'location' ? membersOf(event.location) : undefined
  if (location) return positionOf(location.latitude, location.longitude)
  if (name !== 'status') return []
  const { margin, externalPowerSource, batteryLevel, batteryLevelUnavailable } = event
  // The level is 0 where it is unknown.
  const isUnknown = batteryLevelUnavailable === true || externalPowerSource === true
  return flatten({ margin, externalPowerSource, batteryLevel: isUnknown ? null : batteryLevel }, '')
}

/** The DevEUI, as version 4 writes it. In the JSON of version 3 that follows Protobuf it is base64. */
function devEuiOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  if (/^[0-9a-f]{16}$/i.test(value)) return value.toLowerCase()
  return /^[A-Za-z0-9+/]{11}=$/.test(value) ? Buffer.from(value, 'base64').toString('hex') : undefined
}

/** What the codec has made of the payload. In the JSON of version 3 that follows Protobuf it is a text. */
function decodedOf({ object, objectJSON }: Members): Members | undefined {
  if (typeof objectJSON !== 'string') return membersOf(object)
  // An uplink has at most 242 bytes. To parse much text a second time would hold up other clients.
  return objectJSON.length <= 16_384 ? decode(Buffer.from(objectJSON))?.members : undefined
}
