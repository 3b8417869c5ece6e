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
import { LearnedResources } from './learned-resources.ts'
import { decode, membersOf, nothing, type Payload, readingOf, textOf, unreadable } from './payload.ts'
import { bareReading, flatten, keyOf, recordsAt, unixTime } from './reading.ts'

/**
 * Shelly. From the second generation on, a device publishes notifications on `<prefix>/events/rpc`, the whole status of a component on
 * `<prefix>/status/switch:0`, and `<prefix>/online`. The prefix is the id of the device, `shellyplus1pm-441793d69718`, unless a user has
 * changed it; the notification names the id (`src`), and a fact keeps which id a prefix stands for. The first generation publishes bare
 * values: `shellies/shelly1pm-B929CC/relay/0/power`.
 *
 * The id identifies a device, not the MAC of which it is made: the first generation shows only half of the MAC in its topics.
 */
export const shelly: SourceFormat = { name: 'shelly', begin: () => new ShellyReader() }

const events = '/events/rpc'
const id = /^shelly[a-z0-9-]*-[0-9a-f]{6,12}$/i
const component =
  /^(.+)\/status\/((?:switch|light|cover|rgb|rgbw|cct|rgbcct|pm1|em|em1|emdata|em1data|input|temperature|humidity|illuminance|voltmeter|devicepower|smoke|flood|occupancy|thermostat|blutrv|bthomedevice|bthomesensor):\d+)$/
/** Other software has such topics, too: the prefix must be known, or its last level must begin with `shelly`. */
const service = /^(.+)\/status\/([a-z][a-z0-9_]*(?::\d+)?)$/
const presence = /^(.+)\/online$/
const firstGeneration = /^shellies\/([^/]+)\/(.+)$/

/** Components whose events are readings; those of others are about firmware, scripts and settings. */
const pushed = /^(?:input|bthomedevice|bthomesensor):\d+$/
/** Maximum number of events that are read of one notification. */
const mostEvents = 1_000
const unwanted = /^(?:id|source|by_minute|minute_ts|tF|.*_rev)$/
/** Topics of the first generation that carry no reading: commands, and what a device says of its firmware. */
const noReading = /^(?:announce|settings|command|rpc|debug\/.*|.*\/(?:command|set))$/
const ofFirmware =
  /^info\.(?:update|mac|serial|time|unixtime|cfg_changed_cnt|actions_stats|hwinfo|fs_size|fs_free|ram_\w+)$/

/** What a topic is about. */
interface Place {
  /** What the topic begins with, which is the same in all topics of the device. */
  readonly prefix: string
  readonly part: 'events' | 'status' | 'online' | 'value'
  /** The component of a status, or the levels behind the prefix. */
  readonly path: string
}

class ShellyReader implements SourceReader {
  /** Ids by prefix, where the prefix does not end with the id. */
  readonly #ids = new Map<string, string>()
  readonly #resources = new LearnedResources()

  knows(topic: string): 'fact' | 'form' | undefined {
    const place = this.#placeOf(topic)
    if (place) return this.#ids.has(place.prefix) ? 'fact' : 'form'
    return topic === 'shellies/announce' || topic === 'shellies/command' ? 'form' : undefined
  }

  read({ topic, payload }: Message): Outcome {
    const place = this.#placeOf(topic)
    if (!place) return nothing
    const { prefix, part, path } = place
    const decoded = decode(payload)
    if (!decoded) return unreadable(decoded, 'JSON or a value')
    if (decoded.text === '') return nothing
    const alias = nameOf(prefix)
    const known = this.#ids.get(prefix)
    if (part === 'events') {
      const { src, method, params } = decoded.members ?? {}
      const sender = textOf(src, 64)
      const status = membersOf(params)
      if (typeof method !== 'string' || sender === undefined)
        return unreadable(decoded, 'an object with src and method')
      if (!/^Notify(?:(?:Full)?Status|Event)$/.test(method) || !status) return nothing
      const isWanted = (member: string, name: string) => member !== 'ts' && !unwanted.test(name)
      const datetime = unixTime(status.ts, 'seconds')
      const records =
        method === 'NotifyEvent'
          ? eventsOf(status.events, datetime)
          : recordsAt(flatten(status, '', isWanted), datetime)
      const outcome = this.#outcomeOf(sender, alias, records)
      if (sender === (known ?? alias)) return outcome
      return {
        ...outcome,
        facts: new Map([...(outcome.facts ?? []), [`id ${prefix}`, { prefix, id: sender }]]),
      }
    }
    const device = known ?? alias
    if (part === 'online') {
      const value = bareReading(decoded.text)
      return this.#outcomeOf(device, alias, typeof value === 'boolean' ? [{ key: 'online', value }] : [])
    }
    if (part === 'status') {
      if (!decoded.members) return unreadable(decoded, 'a JSON object')
      return this.#outcomeOf(
        device,
        alias,
        flatten(decoded.members, path, (_, name) => !unwanted.test(name)),
      )
    }
    return this.#outcomeOf(device, alias, valuesOf(path, decoded))
  }

  learn(name: string, fact: Fact | null): void {
    const space = name.indexOf(' ')
    const subject = name.slice(space + 1)
    if (name.slice(0, space) === 'units') this.#resources.learn(subject, fact)
    else if (fact) this.#ids.set(subject, String(fact.id))
    else this.#ids.delete(subject)
  }

  describe(device: string): DeviceDescription | undefined {
    const resources = this.#resources.of(device)
    return resources && { resources: Object.fromEntries(resources) }
  }

  #outcomeOf(device: string, alias: string, records: readonly SentRecord[]): Outcome {
    if (records.length === 0) return nothing
    const fact = this.#resources.factOf(device, records, describe)
    const readings = [readingOf(device === alias ? undefined : device, alias, records)]
    return fact
      ? { readings, facts: new Map([[`units ${device}`, fact]]), described: [device] }
      : { readings }
  }

  #placeOf(topic: string): Place | undefined {
    if (topic.endsWith(events) && topic.length > events.length) {
      return { prefix: topic.slice(0, -events.length), part: 'events', path: '' }
    }
    const [, prefix, part] = component.exec(topic) ?? service.exec(topic) ?? presence.exec(topic) ?? []
    const isSure =
      prefix !== undefined &&
      (this.#ids.has(prefix) || /^shellies\/[^/]+$|(?:^|\/)shelly[^/]*$/i.test(prefix))
    if (prefix !== undefined && part !== undefined && (isSure || component.test(topic))) {
      return { prefix, part: 'status', path: part }
    }
    if (isSure && part === undefined) return { prefix, part: 'online', path: 'online' }
    const [, name, path] = firstGeneration.exec(topic) ?? []
    if (name === undefined || path === undefined) return undefined
    return { prefix: `shellies/${name}`, part: path === 'online' ? 'online' : 'value', path }
  }
}

function lastLevel(topic: string): string {
  return topic.slice(topic.lastIndexOf('/') + 1)
}

/** The name that a prefix gives a device: its id, if that is the last level, else the prefix without `shellies/`. */
function nameOf(prefix: string): string {
  const last = lastLevel(prefix)
  return id.test(last) ? last : prefix.replace(/^shellies\/(?=.)/, '')
}

/**
 * What a person has done to a button, which the status does not show: `input_0.event` is `single_push`. A Bluetooth remote names the button, too (`idx`).
 *
 * @param datetime the time of the notification, if it is certain
 */
function eventsOf(events: unknown, datetime: string | undefined): readonly SentRecord[] {
  const records: SentRecord[] = []
  for (const event of Array.isArray(events) ? events.slice(0, mostEvents) : []) {
    const { component: source, event: name, idx, ts } = membersOf(event) ?? {}
    const isRead = typeof source === 'string' && pushed.test(source) && textOf(name) !== undefined
    if (!isRead || name === 'config_changed') continue
    const found = flatten({ event: name, idx }, source)
    records.push(...recordsAt(found, unixTime(ts, 'seconds') ?? datetime))
  }
  return records
}

/** Readings of the first generation. @param path the levels behind the name of the device */
function valuesOf(path: string, { text, json, members }: Payload): readonly SentRecord[] {
  if (noReading.test(path)) return []
  const prefix = path.replaceAll('/', '.')
  if (members)
    return flatten(members, prefix, (below, name) => !unwanted.test(name) && !ofFirmware.test(below))
  if (Array.isArray(json)) return [{ key: keyOf(prefix), value: json }]
  const value = text === 'on' || text === 'off' ? text === 'on' : bareReading(text)
  // A sensor that is not connected sends 999, and a roller that is not calibrated the position -1.
  const isNone = /(?:temperature|humidity)(?:_f)?(?:\.\d+)?$/.test(prefix)
    ? value === 999
    : prefix.endsWith('.pos') && value === -1
  return value === undefined || isNone ? [] : [{ key: keyOf(prefix), value }]
}

const power = { unit: 'W', kind: 'power' }
const apparentPower = { unit: 'VA', kind: 'apparent_power' }
const voltage = { unit: 'V', kind: 'voltage' }
const current = { unit: 'A', kind: 'current' }
const frequency = { unit: 'Hz', kind: 'frequency' }
const energy = { unit: 'Wh', kind: 'energy', total: true }
const wattMinutes = { unit: 'W·min', kind: 'energy', total: true }
const temperature = { unit: '°C', kind: 'temperature' }
const fahrenheit = { unit: '°F', kind: 'temperature' }
const humidity = { unit: '%', kind: 'humidity' }
const battery = { unit: '%', kind: 'battery' }
const signal = { unit: 'dBm', kind: 'signal_strength' }
const percent = { unit: '%' }

/** By component and member, of keys without numbers and phases: `switch.apower` for `switch_0.apower`, `em.act_power` for `em_0.a_act_power`. */
const quantities = new Map<string, ResourceDescription>([
  ...['switch', 'light', 'cover', 'rgb', 'rgbw', 'cct', 'rgbcct', 'pm1'].flatMap(output =>
    Object.entries({
      apower: power,
      voltage,
      current,
      freq: frequency,
      'aenergy.total': energy,
      'ret_aenergy.total': energy,
      'temperature.tC': temperature,
      brightness: percent,
      current_pos: percent,
    }).map(([member, description]) => [`${output}.${member}`, description] as const),
  ),
  ...['em', 'em1'].flatMap(meter =>
    Object.entries({
      act_power: power,
      aprt_power: apparentPower,
      voltage,
      current,
      freq: frequency,
      total_act_power: power,
      total_aprt_power: apparentPower,
      total_current: current,
    }).map(([member, description]) => [`${meter}.${member}`, description] as const),
  ),
  ...['total_act', 'total_act_ret', 'total_act_energy', 'total_act_ret_energy'].flatMap(member =>
    ['emdata', 'em1data'].map(meter => [`${meter}.${member}`, energy] as const),
  ),
  ['temperature.tC', temperature],
  ['humidity.rh', humidity],
  ['illuminance.lux', { unit: 'lx', kind: 'illuminance' }],
  ['voltmeter.voltage', voltage],
  ['input.percent', percent],
  ['devicepower.battery.V', voltage],
  ['devicepower.battery.percent', battery],
  ['thermostat.current_C', temperature],
  ['thermostat.target_C', temperature],
  ['blutrv.current_C', temperature],
  ['blutrv.target_C', temperature],
  ['blutrv.pos', percent],
  ['blutrv.battery', battery],
  ['blutrv.rssi', signal],
  ['bthomedevice.battery', battery],
  ['bthomedevice.rssi', signal],
  ['wifi.rssi', signal],
  ['sys.uptime', { unit: 's', kind: 'duration' }],
])

/** The first generation, keys without numbers: `relay.power` for `relay.0.power`. The unit of `sensor.temperature` is a setting. */
const firstQuantities = new Map<string, ResourceDescription>([
  ...['relay', 'light', 'white', 'color', 'roller'].flatMap(
    output =>
      [
        [`${output}.power`, power],
        [`${output}.energy`, wattMinutes],
      ] as const,
  ),
  ['emeter.power', power],
  ['emeter.reactive_power', { unit: 'var', kind: 'reactive_power' }],
  ['emeter.voltage', voltage],
  ['emeter.current', current],
  ['emeter.energy', wattMinutes],
  ['emeter.returned_energy', wattMinutes],
  ['emeter.total', energy],
  ['emeter.total_returned', energy],
  ['emeter_n.current', current],
  ['roller.pos', percent],
  ['temperature', temperature],
  ['temperature_f', fahrenheit],
  ['ext_temperature', temperature],
  ['ext_temperature_f', fahrenheit],
  ['ext_temperatures.tC', temperature],
  ['ext_humidity', humidity],
  ['ext_humidities.hum', humidity],
  ['voltage', voltage],
  ['adc', voltage],
  ['sensor.humidity', humidity],
  ['sensor.battery', battery],
  ['sensor.lux', { unit: 'lx', kind: 'illuminance' }],
  ['sensor.concentration', { unit: 'ppm' }],
  ['sensor.tilt', { unit: '°' }],
  ['totalworktime', { unit: 's', kind: 'duration' }],
])

function describe(key: string): ResourceDescription | undefined {
  const member = key.replace(/^([a-z0-9]+)_\d+\./, '$1.').replace(/^(em|emdata)\.[abcn]_/, '$1.')
  return quantities.get(member) ?? firstQuantities.get(key.replace(/\.\d+(?=\.|$)/, ''))
}
