import { isForbiddenMember } from '../core/record/value.ts'
import type {
  DeviceDescription,
  Fact,
  Message,
  Outcome,
  ResourceDescription,
  SentRecord,
  SourceFormat,
  SourceReader,
} from './format.ts'
import { mostResources } from './learned-resources.ts'
import {
  cutName,
  decode,
  longestUnit,
  membersOf,
  nothing,
  type Payload,
  readingOf,
  textOf,
  unreadable,
} from './payload.ts'
import { bareReading, flatten, keyOf, recordsAt, unixTime, zonedTime } from './reading.ts'

/**
 * Zigbee2MQTT: `zigbee2mqtt/<friendly name>` and its neighbours. `<base>/bridge/devices` lists every device with its IEEE address, its
 * friendly name, which may hold slashes and may change, and what it publishes (`exposes`). The newest list decides which device has a
 * name. A list names its own base, so that other bases than `zigbee2mqtt` are known after their list.
 *
 * The coordinator is no device: it publishes nothing. Disabled and unsupported devices are, without descriptions where the list has none.
 * A group, and a device that is in no list, is a device by its name; below another base than `zigbee2mqtt`, by the whole topic.
 */
export const zigbee2mqtt: SourceFormat = { name: 'zigbee2mqtt', begin: () => new Zigbee2MqttReader() }

const defaultBase = 'zigbee2mqtt'
const deviceList = '/bridge/devices'
const mostMistakes = 20
const longestBase = 200
/** An IEEE address is 18 characters. */
const longestAddress = 64
const deepestExpose = 8

/** A fact: a device of a list. */
interface Device {
  readonly base: string
  readonly address: string
  readonly name: string
  readonly resources: Readonly<Record<string, ResourceDescription>>
  /** By key of a binary resource, the texts or numbers for true and false. */
  readonly states: Readonly<Record<string, readonly [on: unknown, off: unknown]>>
}

/** What a topic below a base is about. */
interface Place {
  readonly base: string
  /** Friendly name. */
  readonly name: string
  readonly known?: Device
  /** Levels behind the name. */
  readonly rest: readonly string[]
}

class Zigbee2MqttReader implements SourceReader {
  readonly #devices = new Map<string, Device>()
  /** By topic, `zigbee2mqtt/kitchen/lamp`. */
  readonly #topics = new Map<string, Device>()
  readonly #bases = new Set([defaultBase])

  knows(topic: string): 'fact' | 'form' | undefined {
    const place = this.#placeOf(topic)
    if (place?.known) return 'fact'
    return place || topic.endsWith(deviceList) ? 'form' : undefined
  }

  read({ topic, payload }: Message): Outcome {
    if (topic.endsWith(deviceList)) return this.#list(topic.slice(0, -deviceList.length), decode(payload))
    const place = this.#placeOf(topic)
    // The bridge speaks of itself: its state, its log, answers to requests.
    if (!place || /^bridge(?:\/|$)/.test(place.name)) return nothing
    const decoded = decode(payload)
    const { base, name, known, rest } = decoded ? placeOfPayload(place, decoded) : place
    const [attribute] = rest
    if (name === '' || rest.some(isCommand)) return nothing
    const alias = aliasOf(base, name)
    const outcomeOf = (records: readonly SentRecord[]): Outcome =>
      records.length === 0 ? nothing : { readings: [readingOf(known?.address, alias, records)] }
    if (!decoded) return unreadable(decoded, 'a JSON object')
    if (attribute === undefined) {
      if (decoded.members) return outcomeOf(recordsOf(decoded.members, known))
      return decoded.text === '' ? nothing : unreadable(decoded, 'a JSON object')
    }
    if (attribute === 'availability') {
      const value = textOf(decoded.members?.state) ?? decoded.text
      const isOnline = value === 'online'
      return outcomeOf(isOnline || value === 'offline' ? [{ key: 'online', value: isOnline }] : [])
    }
    const value = bareReading(decoded.text)
    if (value === undefined || !isReading(attribute, attribute) || attribute.startsWith('device-'))
      return nothing
    // The attribute `color-x` is the member `color.x` of the JSON object.
    const member = attribute.replaceAll('-', '.')
    const key = known && Object.hasOwn(known.resources, member) ? member : keyOf(attribute)
    return outcomeOf([{ key, value: known ? stateOf(key, value, known) : value }])
  }

  learn(name: string, fact: Fact | null): void {
    if (fact?.base !== undefined && fact.address === undefined) {
      this.#bases.add(String(fact.base))
      return
    }
    const address = name.slice('device '.length)
    const before = this.#devices.get(address)
    const topic = before && `${before.base}/${before.name}`
    if (topic !== undefined && this.#topics.get(topic) === before) this.#topics.delete(topic)
    this.#devices.delete(address)
    if (!fact) return
    const device = fact as unknown as Device
    this.#devices.set(address, device)
    this.#topics.set(`${device.base}/${device.name}`, device)
  }

  describe(device: string): DeviceDescription | undefined {
    const known = this.#devices.get(device)
    return known && { name: known.name, alias: aliasOf(known.base, known.name), resources: known.resources }
  }

  /** Takes a list of devices. What it says of a device is a fact; what is known already is left out. */
  #list(base: string, payload: Payload | undefined): Outcome {
    if (payload?.text === '') return nothing
    if (!payload || !Array.isArray(payload.json)) return unreadable(payload, 'a JSON array of devices')
    if (textOf(base, longestBase) === undefined) return nothing
    const facts = this.#bases.has(base) ? undefined : new Map([[`base ${base}`, { base }]])
    return { readings: [], ...(facts && { facts }), more: this.#devicesOf(base, payload.json) }
  }

  *#devicesOf(base: string, list: readonly unknown[]): Generator<Outcome> {
    const listed = new Set<string>()
    let mistakes = 0
    for (const [index, entry] of list.entries()) {
      const members = membersOf(entry)
      if (members?.type === 'Coordinator') continue
      const device = members && deviceOf(base, members)
      if (!device) {
        const reason = 'must be an object with ieee_address and friendly_name'
        if (mistakes++ < mostMistakes) yield { readings: [], unread: [{ place: `[${index}]`, reason }] }
        continue
      }
      const { address } = device
      listed.add(address)
      const known = this.#devices.get(address)
      if (known && JSON.stringify(known) === JSON.stringify(device)) continue
      yield { readings: [], facts: new Map([[`device ${address}`, device]]), described: [address] }
    }
    for (const { base: former, address } of [...this.#devices.values()])
      if (former === base && !listed.has(address))
        yield { readings: [], facts: new Map([[`device ${address}`, null]]), gone: [address] }
  }

  /** Finds base and name in a topic; undefined if it lies below no known base. */
  #placeOf(topic: string): Place | undefined {
    // Up to three levels stand behind a name: `<name>/<endpoint>/set/<attribute>`.
    let end = topic.length
    for (let levels = 0; levels <= 3 && end > 0; levels++) {
      const known = this.#topics.get(topic.slice(0, end))
      const rest = levels === 0 ? [] : topic.slice(end + 1).split('/')
      if (known && (levels < 2 || rest.some(isCommand))) {
        return { base: known.base, name: known.name, known, rest }
      }
      end = topic.lastIndexOf('/', end - 1)
    }
    for (end = topic.lastIndexOf('/', longestBase); end > 0; end = topic.lastIndexOf('/', end - 1)) {
      const base = topic.slice(0, end)
      if (this.#bases.has(base)) return { base, ...splitName(topic.slice(end + 1)) }
    }
    return undefined
  }
}

/** What a device is called that is in no list. */
function aliasOf(base: string, name: string): string {
  return base === defaultBase ? name : `${base}/${name}`
}

/** The name of a device that is in no list, and the levels behind it. */
function splitName(path: string): Pick<Place, 'name' | 'rest'> {
  const levels = path.split('/')
  const end = levels.findIndex((level, index) => index > 0 && isCommand(level))
  const length = end === -1 && levels.length > 1 && levels.at(-1) === 'availability' ? levels.length - 1 : end
  if (length === -1) return { name: path, rest: [] }
  return { name: levels.slice(0, length).join('/'), rest: levels.slice(length) }
}

/**
 * Decides by the payload whether the last level is an attribute or part of a name: attributes are bare values, and devices send objects.
 */
function placeOfPayload(place: Place, { members, text }: Payload): Place {
  const { base, name, known, rest } = place
  const [level] = rest
  if (
    known &&
    members &&
    rest.length === 1 &&
    level !== undefined &&
    level !== 'availability' &&
    !isCommand(level)
  ) {
    return { base, name: `${name}/${level}`, rest: [] }
  }
  const slash = name.lastIndexOf('/')
  if (known || rest.length > 0 || slash === -1 || members || text === '') return place
  return { base, name: name.slice(0, slash), rest: [name.slice(slash + 1)] }
}

function isCommand(level: string): boolean {
  return level === 'set' || level === 'get'
}

function isReading(path: string, name: string): boolean {
  return path !== name || !(name.startsWith('update') || name === 'last_seen' || name === 'elapsed')
}

function recordsOf(
  members: Readonly<Record<string, unknown>>,
  known: Device | undefined,
): readonly SentRecord[] {
  // The option `include_device_information` adds what the list of devices says.
  const hasInformation = textOf(membersOf(members.device)?.ieeeAddr) !== undefined
  const isWanted = (path: string, name: string) =>
    isReading(path, name) && !(hasInformation && path === 'device')
  const datetime = zonedTime(members.last_seen) ?? unixTime(members.last_seen, 'milliseconds')
  const found = flatten(members, '', isWanted)
  if (known) for (const reading of found) reading.value = stateOf(reading.key, reading.value, known)
  return recordsAt(found, datetime)
}

function stateOf(key: string, value: unknown, { states }: Device): unknown {
  const [on, off] = (Object.hasOwn(states, key) && states[key]) || []
  if (on === undefined) return value
  if (value === on) return true
  return value === off ? false : value
}

/** The fact of a device in a list; undefined if the entry does not identify it. */
function deviceOf(base: string, entry: Readonly<Record<string, unknown>>): (Device & Fact) | undefined {
  const address = textOf(entry.ieee_address, longestAddress)
  const name = textOf(entry.friendly_name)
  if (address === undefined || name === undefined) return undefined
  const resources = new Map<string, ResourceDescription>()
  const states = new Map<string, readonly [unknown, unknown]>()
  const visit = (expose: unknown, path: string, depth: number): void => {
    const members = membersOf(expose)
    if (!members) return
    const { type, features, access, value_on: on, value_off: off } = members
    const property = textOf(members.property)
    if (Array.isArray(features)) {
      // The members of a light or a thermostat are those of the message; a composite is an object of its own.
      const below = type === 'composite' && property !== undefined ? `${path}${property}.` : path
      if (depth < deepestExpose) for (const feature of features) visit(feature, below, depth + 1)
      return
    }
    const isPublished = typeof access !== 'number' || (access & 1) === 1
    if (property === undefined || !isPublished || resources.size === mostResources) return
    const key = keyOf(path + property)
    if (isForbiddenMember(key)) return
    const description = descriptionOf(members)
    if (Object.keys(description).length > 0) resources.set(key, description)
    // Booleans stay as they are sent: a contact sensor sends true if it is closed, its value_on is false.
    if (type === 'binary' && isState(on) && isState(off) && states.size < mostResources)
      states.set(key, [on, off])
  }
  const { exposes } = membersOf(entry.definition) ?? {}
  if (Array.isArray(exposes)) for (const expose of exposes) visit(expose, '', 0)
  return { base, address, name, resources: Object.fromEntries(resources), states: Object.fromEntries(states) }
}

function isState(value: unknown): boolean {
  // `1e999` is Infinity, which JSON does not keep.
  return Number.isFinite(value) || textOf(value) !== undefined
}

function descriptionOf(expose: Readonly<Record<string, unknown>>): ResourceDescription {
  const label = textOf(expose.label)
  const endpoint = textOf(expose.endpoint)
  const name = label === undefined || endpoint === undefined ? label : `${label} ${endpoint}`
  const unit = textOf(expose.unit, longestUnit)
  const kind = kinds.get(expose.name) ?? kindsByUnit.get(unit)
  return {
    ...(name !== undefined && { name: cutName(name) }),
    ...(unit !== undefined && { unit }),
    ...(kind !== undefined && { kind }),
    ...(kindsByUnit.get(unit) === 'energy' && { total: true }),
  }
}

/** Home Assistant's device classes, by the name that Zigbee2MQTT gives a quantity in all devices. */
const kinds = new Map<unknown, string>([
  ...['battery', 'humidity', 'illuminance', 'pressure', 'temperature', 'voltage', 'power_factor'].map(
    name => [name, name] as const,
  ),
  ['ac_frequency', 'frequency'],
  ['co2', 'carbon_dioxide'],
  ['device_temperature', 'temperature'],
  ['local_temperature', 'temperature'],
  ['occupancy', 'occupancy'],
  ['soil_moisture', 'moisture'],
  ['water_leak', 'moisture'],
])
const kindsByUnit = new Map<string | undefined, string>([
  ['Wh', 'energy'],
  ['kWh', 'energy'],
  ['mA', 'current'],
  ['A', 'current'],
  ['mW', 'power'],
  ['W', 'power'],
  ['kW', 'power'],
])
