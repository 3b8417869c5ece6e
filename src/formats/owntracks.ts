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
import { decode, membersOf, nothing, textOf, unreadable } from './payload.ts'
import { firstGpsTime, flatten, keyOf, recordsAt, unixTime } from './reading.ts'
import { describedBy, KnownDevices, type Members, mistakeAt, positionOf } from './webhook.ts'

/** OwnTracks, over MQTT (`owntracks/<user>/<device>` and the topics below it) or by HTTP. The units are those of its booklet, `tech/json`. */
export const owntracks: SourceFormat = { name: 'owntracks', begin: () => new OwnTracksReader() }

const topics = /^owntracks\/([^/]+)\/([^/]+)(?:\/[^/]+)?$/

const descriptions = describedBy([
  { unit: 'm', keys: ['acc', 'alt', 'vac'] },
  { unit: '%', keys: ['batt', 'flvl'] },
  { unit: '°', keys: ['cog'] },
  { unit: 'km/h', keys: ['vel'] },
  { unit: 'kPa', keys: ['p'] },
  { unit: 'km', keys: ['odometer'] },
  { unit: 's', keys: ['hmc', 'don', 'doff'] },
  { unit: 'V', keys: ['ubatt', 'uext', 'aiv'] },
])

/** Members that identify the message or the device, and those of its position and time. */
const noReadings = new Set(
  '_id _type _http topic tid t source randomId image imagename inrids rid imei vin lat lon rad tst wtst created_at sent from to'.split(
    ' ',
  ),
)

/** Members that are negative while the phone does not know them. */
const neverNegative = new Set('acc batt cog vac vel steps distance floorsascended floorsdescended'.split(' '))

class OwnTracksReader implements SourceReader {
  readonly #devices = new KnownDevices(descriptions)

  knows(topic: string): 'form' | undefined {
    return topics.test(topic) ? 'form' : undefined
  }

  read({ topic, payload }: Message): Outcome {
    // The app empties the topic of a card that it removes.
    if (payload.length === 0) return nothing
    const [, user, device] = topics.exec(topic) ?? []
    const decoded = decode(payload)
    return decoded?.members
      ? this.#read(decoded.members, `${user}/${device}`)
      : unreadable(decoded, 'a JSON object with _type')
  }

  readPost({ body, query, headers }: Post): Outcome | undefined {
    const message = membersOf(body)
    if (typeof message?._type !== 'string') return undefined
    const [, topicUser, topicDevice] = topics.exec(textOf(message.topic) ?? '') ?? []
    const user = textOf(query.u) ?? textOf(headers['x-limit-u']) ?? topicUser
    const phone = textOf(query.d) ?? textOf(headers['x-limit-d']) ?? topicDevice ?? textOf(message.tid)
    const device = user === undefined || phone === undefined ? phone : `${user}/${phone}`
    const outcome =
      device === undefined
        ? mistakeAt('', 'must name the device, in the identification of the app or by ?u=jane&d=phone')
        : this.#read(message, device)
    const unread = outcome.unread?.map(each => (device === undefined ? each : { device, ...each }))
    // The app takes an array of messages: positions of friends, and commands.
    return { ...outcome, ...(unread && { unread }), reply: [] }
  }

  learn(name: string, fact: Fact | null): void {
    this.#devices.learn(name, fact)
  }

  describe(device: string): DeviceDescription | undefined {
    return this.#devices.describe(device)
  }

  #read(message: Members, device: string): Outcome {
    const outcome = (records: readonly SentRecord[], name?: string) =>
      this.#devices.outcome({ device, records }, name)
    switch (message._type) {
      case 'location':
      case 'transition': {
        const position = positionOf(message.lat, message.lon)
        const read = outcome(recordsAt([...position, ...measurementsOf(message)], timeOf(message)))
        // A transition at a beacon may lack the position.
        const isRead = position.length > 0 || message._type === 'transition'
        return isRead ? read : { ...read, unread: [noPosition] }
      }
      case 'steps':
        return outcome(recordsAt(measurementsOf(message), timeOf(message)))
      case 'beacon':
        return outcome(recordsAt(beaconReadings(message), timeOf(message)))
      // The time of a will is that of the connection.
      case 'lwt':
        return outcome([{ key: 'online', value: false }])
      case 'card':
        return outcome([], textOf(message.name))
      case 'encrypted':
        return mistakeAt('', 'must be plain JSON, but it is encrypted: the app must have no encryption key')
      case 'waypoint':
      case 'waypoints':
      case 'cmd':
      case 'request':
      case 'configuration':
      case 'dump':
      case 'status':
        return nothing
      default:
        return mistakeAt('_type', 'must be a type of message that OwnTracks documents, such as location')
    }
  }
}

const noPosition = { place: 'lat', reason: 'lat must be from -90 to 90 degrees, and lon from -180 to 180' }

function timeOf(message: Members): string | undefined {
  return unixTime(message.tst, 'seconds', firstGpsTime)
}

function measurementsOf(message: Members): readonly SentRecord[] {
  const readings = flatten(message, '', (_path, name) => !noReadings.has(name))
  return readings.filter(({ key, value }) => !(neverNegative.has(key) && (value as number) < 0))
}

/** The distance to one beacon; the phone may be near several. */
function beaconReadings(message: Members): readonly SentRecord[] {
  const beacon = textOf(message.desc) ?? textOf(message.uuid) ?? ''
  const { acc, rssi, prox } = message
  // A proximity of 0 could not be determined.
  const readings = measurementsOf({ acc, rssi, prox: prox === 0 ? null : prox })
  return readings.map(({ key, value }) => ({ key: keyOf('beacon', beacon, key), value }))
}
