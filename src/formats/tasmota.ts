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
import {
  cutName,
  decode,
  membersOf,
  nothing,
  type Payload,
  readingOf,
  textOf,
  unreadable,
} from './payload.ts'
import { bareReading, flatten, recordsAt, unixTime, zonedTime } from './reading.ts'

/**
 * Tasmota: `tele/plug/SENSOR` and its neighbours. `tasmota/discovery/<mac>/config` names the topics of a device, its MAC and its texts for
 * on and off; `…/sensors` shows what it measures. Without discovery the default topics are known by their form, with the prefix `tele` or
 * `stat` in front or directly before the last level: `tele/plug/SENSOR`, `home/plug/tele/SENSOR`. The device is then named by the other
 * levels, `plug` and `home/plug`; that name is the alias of a device that is known by its MAC.
 */
export const tasmota: SourceFormat = { name: 'tasmota', begin: () => new TasmotaReader() }

/** A fact: what `config` says of a device. */
interface Device {
  readonly device: string
  readonly name?: string
  /** The name in its topics. */
  readonly alias: string
  /** Beginnings of the topics on which it publishes, with the slash. */
  readonly bases: readonly string[]
  readonly on: string
  readonly off: string
  readonly online: string
  readonly offline: string
  /** Whether its discovery was emptied. Its topics stay its own: a thing that was made by their name would get what it goes on sending. */
  readonly isWithdrawn?: boolean
  /** Names of its relays, by key. */
  readonly relays: Readonly<Record<string, string>>
}

const defaults = { on: 'ON', off: 'OFF', online: 'Online', offline: 'Offline' }

const discovery = /^tasmota\/discovery\/([^/]+)\/(config|sensors)$/
const leaves = 'LWT|SENSOR|STATE|ENERGY|RESULT|UPTIME|INFO\\d|(?:POWER|STATUS|SHUTTER|SWITCH|BUTTON)\\d*'
const prefixFirst = new RegExp(`^(?:tele|stat)/(.*[^/])/(?:${leaves})$`)
const prefixLast = new RegExp(`^(.*[^/])/(?:tele|stat)/(?:${leaves})$`)

/** Last levels whose messages hold readings alone. Other messages are answers to commands, which may show settings and passwords. */
const measured = /^(?:SENSOR|STATE|ENERGY)$/
/** What is a reading in an answer to a command. */
const answered =
  /^(?:(?:POWER|Dimmer|Color|HSBColor|White|CT|Channel|FanSpeed|Shutter|Switch|Button)\d*|(?:Zb|Rf|Ir|Lw)Received)$/
const unwanted = /^(?:Time|Epoch|TotalStartTime|\w*Unit|Id|Uptime|Sleep\w*|MqttCount)$/
const wifi = /^Wifi\.(?!(?:RSSI|Signal)$)/
/** Members that identify a Zigbee or LoRa node below its name. */
const nodeNames = /^(?:Zb|Lw)Received\.[^.]*\.(?:Device|Name|Endpoint|Node)$/
const switched = /^(?:POWER|Switch)\d*$/i

class TasmotaReader implements SourceReader {
  readonly #devices = new Map<string, Device>()
  readonly #bases = new Map<string, Device>()
  readonly #resources = new LearnedResources()

  knows(topic: string): 'fact' | 'form' | undefined {
    if (this.#deviceOf(topic)) return 'fact'
    return nameIn(topic) !== undefined || discovery.test(topic) ? 'form' : undefined
  }

  read({ topic, payload }: Message): Outcome {
    const [, mac, part] = discovery.exec(topic) ?? []
    const decoded = decode(payload)
    if (mac !== undefined) return part === 'config' ? this.#config(mac, decoded) : this.#sensors(mac, decoded)
    const known = this.#deviceOf(topic)
    const alias = known?.alias ?? nameIn(topic)
    if (alias === undefined) return nothing
    const device = known?.device ?? alias
    const leaf = topic.slice(topic.lastIndexOf('/') + 1)
    if (!decoded) return unreadable(decoded, 'JSON')
    if (!decoded.members) {
      if (measured.test(leaf) && decoded.text !== '') return unreadable(decoded, 'a JSON object')
      const record = bareRecord(leaf, decoded.text, known ?? defaults)
      return record ? { readings: [readingOf(known?.device, alias, [record])] } : nothing
    }
    const status = membersOf(decoded.members.StatusSNS) ?? membersOf(decoded.members.StatusSTS)
    const members = status ?? decoded.members
    const isWanted = status || measured.test(leaf) || 'Time' in members ? isReading : isAnswered
    const found = flatten(members, '', isWanted)
    for (const reading of found) {
      if (switched.test(reading.key)) reading.value = stateOf(reading.value, known ?? defaults)
    }
    if (found.length === 0) return nothing
    const fact = known?.isWithdrawn
      ? undefined
      : this.#resources.factOf(device, found, key => describe(key, members))
    const readings = [readingOf(known?.device, alias, recordsAt(found, timeOf(members)))]
    return fact
      ? { readings, facts: new Map([[`units ${device}`, fact]]), described: [device] }
      : { readings }
  }

  learn(name: string, fact: Fact | null): void {
    const [kind, device = ''] = splitOnce(name)
    if (kind === 'units') {
      this.#resources.learn(device, fact)
      return
    }
    const before = this.#devices.get(device)
    for (const base of before?.bases ?? []) if (this.#bases.get(base) === before) this.#bases.delete(base)
    this.#devices.delete(device)
    if (!fact) return
    const known = fact as unknown as Device
    this.#devices.set(device, known)
    for (const base of known.bases) this.#bases.set(base, known)
  }

  describe(device: string): DeviceDescription | undefined {
    const known = this.#devices.get(device)
    const resources = this.#resources.of(device)
    if (known?.isWithdrawn || (!known && !resources)) return undefined
    const named = Object.entries(known?.relays ?? {}).map(([key, name]) => [key, { name }] as const)
    return {
      ...(known?.name !== undefined && { name: known.name }),
      ...(known && { alias: known.alias }),
      resources: Object.fromEntries([...named, ...(resources ?? [])]),
    }
  }

  /** The device that publishes on a topic. A Zigbee bridge may publish one level below its own topics, `tele/bridge/8F20/SENSOR`. */
  #deviceOf(topic: string): Device | undefined {
    const base = topic.slice(0, topic.lastIndexOf('/') + 1)
    const device = this.#bases.get(base)
    if (device || !topic.endsWith('/SENSOR')) return device
    return this.#bases.get(base.slice(0, base.lastIndexOf('/', base.length - 2) + 1))
  }

  #config(mac: string, payload: Payload | undefined): Outcome {
    if (payload?.text === '') {
      const known = this.#devices.get(mac)
      const facts = new Map<string, Fact | null>([[`units ${mac}`, null]])
      facts.set(`config ${mac}`, known ? { ...known, isWithdrawn: true } : null)
      return { readings: [], facts, gone: [mac] }
    }
    const device = payload?.members && deviceOf(mac, payload.members)
    if (!device) return unreadable(payload, 'a JSON object with t, ft and tp')
    const facts = new Map<string, Fact | null>()
    for (const base of device.bases) {
      const holder = this.#bases.get(base)
      if (holder?.isWithdrawn && holder.device !== mac) facts.set(`config ${holder.device}`, null)
    }
    return { readings: [], facts: facts.set(`config ${mac}`, device), described: [mac] }
  }

  #sensors(mac: string, payload: Payload | undefined): Outcome {
    if (payload?.text === '' || this.#devices.get(mac)?.isWithdrawn) return nothing
    if (!payload?.members) return unreadable(payload, 'a JSON object')
    const shown = membersOf(payload.members.sn) ?? {}
    const fact = this.#resources.factOf(mac, flatten(shown, '', isReading), key => describe(key, shown))
    return fact ? { readings: [], facts: new Map([[`units ${mac}`, fact]]), described: [mac] } : nothing
  }
}

/** The name in a topic of default form. */
function nameIn(topic: string): string | undefined {
  return (prefixFirst.exec(topic) ?? prefixLast.exec(topic))?.[1]
}

/** `SetOption52` gives the text a zone; `Time 2` adds the Unix time, `Time 3` sends it alone. */
function timeOf({ Time: time, Epoch: epoch }: Readonly<Record<string, unknown>>): string | undefined {
  return zonedTime(time) ?? unixTime(epoch, 'seconds') ?? unixTime(time, 'seconds')
}

function splitOnce(text: string): string[] {
  const space = text.indexOf(' ')
  return [text.slice(0, space), text.slice(space + 1)]
}

function isReading(path: string, name: string): boolean {
  return !unwanted.test(name) && !wifi.test(path) && !nodeNames.test(path)
}

function isAnswered(path: string, name: string): boolean {
  return path === name ? answered.test(name) : isReading(path, name)
}

/** The fact of a device; undefined if the message does not name its topics. */
function deviceOf(mac: string, config: Readonly<Record<string, unknown>>): (Device & Fact) | undefined {
  const topic = textOf(config.t)
  const fullTopic = textOf(config.ft)
  const [, stat, tele] = Array.isArray(config.tp) ? config.tp.map(prefix => textOf(prefix)) : []
  if (topic === undefined || fullTopic === undefined || stat === undefined || tele === undefined)
    return undefined
  const baseOf = (prefix: string) => {
    const values = new Map([
      ['%prefix%', prefix],
      ['%topic%', topic],
      ['%hostname%', textOf(config.hn) ?? ''],
      ['%id%', mac.slice(-6)],
    ])
    const levels = fullTopic.replace(/%\w+%/g, token => values.get(token) ?? token).split('/')
    return levels.filter(level => level !== '').join('/')
  }
  const states = Array.isArray(config.state) ? config.state.map(text => textOf(text)) : []
  const name = textOf(config.dn)
  const alias = baseOf('')
  if (alias === '') return undefined
  return {
    device: mac,
    ...(name !== undefined && { name }),
    alias,
    bases: [`${baseOf(stat)}/`, `${baseOf(tele)}/`],
    off: states[0] ?? defaults.off,
    on: states[1] ?? defaults.on,
    online: textOf(config.onln) ?? defaults.online,
    offline: textOf(config.ofln) ?? defaults.offline,
    relays: relayNames(config.fn),
  }
}

/** Names of relays, if there are several: a single one has the name of the device. */
function relayNames(friendlyNames: unknown): Device['relays'] {
  const names = Array.isArray(friendlyNames) ? friendlyNames.slice(0, 32).map(name => textOf(name)) : []
  const given = names.flatMap((name, index) =>
    name === undefined ? [] : [[`POWER${index + 1}`, cutName(name)] as const],
  )
  return given.length > 1 ? Object.fromEntries(given) : {}
}

type States = Pick<Device, 'on' | 'off' | 'online' | 'offline'>

function stateOf(value: unknown, { on, off }: States): unknown {
  if (value === on) return true
  return value === off ? false : value
}

/** The reading of a message that is one text; undefined if the message is none. */
function bareRecord(leaf: string, text: string, states: States): SentRecord | undefined {
  if (leaf === 'LWT') {
    const isOnline = text === states.online
    return isOnline || text === states.offline ? { key: 'online', value: isOnline } : undefined
  }
  if (switched.test(leaf) && (text === states.on || text === states.off)) {
    return { key: leaf, value: text === states.on }
  }
  const value = /^(?:POWER|SHUTTER)\d*$/.test(leaf) ? bareReading(text) : undefined
  return value === undefined ? undefined : { key: leaf, value }
}

const energy = { unit: 'kWh', kind: 'energy', total: true }
const power = { unit: 'W', kind: 'power' }
const particles = (kind: string) => ({ unit: 'µg/m³', kind })

/** By the last name of a key. Left out: quantities that different drivers send in different units, such as Distance and Energy. */
const quantities = new Map<string, ResourceDescription>([
  ['Power', power],
  ['ActivePower', power],
  ['ApparentPower', { unit: 'VA', kind: 'apparent_power' }],
  ['ReactivePower', { unit: 'var', kind: 'reactive_power' }],
  ['Voltage', { unit: 'V', kind: 'voltage' }],
  ['Current', { unit: 'A', kind: 'current' }],
  ['CurrentNeutral', { unit: 'A', kind: 'current' }],
  ['Frequency', { unit: 'Hz', kind: 'frequency' }],
  ['PhaseAngle', { unit: '°' }],
  ['Humidity', { unit: '%', kind: 'humidity' }],
  ['Moisture', { unit: '%', kind: 'moisture' }],
  ['Battery', { unit: '%', kind: 'battery' }],
  ['Illuminance', { unit: 'lx', kind: 'illuminance' }],
  ['CarbonDioxide', { unit: 'ppm', kind: 'carbon_dioxide' }],
  ['eCO2', { unit: 'ppm' }],
  ['TVOC', { unit: 'ppb' }],
  ['PM1', particles('pm1')],
  ['PM2.5', particles('pm25')],
  ['PM10', particles('pm10')],
  ['Weight', { unit: 'kg', kind: 'weight' }],
])
/** By the whole key: members of STATE, and of ENERGY, whose names mean something else in other sensors. */
const wholeKeys = new Map<string, ResourceDescription>([
  ['ENERGY.Total', energy],
  ['ENERGY.Today', energy],
  ['ENERGY.Yesterday', { unit: 'kWh', kind: 'energy' }],
  ['ENERGY.Period', { unit: 'Wh', kind: 'energy' }],
  ['ENERGY.ExportActive', energy],
  ['ENERGY.ImportActive', energy],
  ['ENERGY.ExportReactive', { unit: 'kvarh', total: true }],
  ['ENERGY.ImportReactive', { unit: 'kvarh', total: true }],
  ['Wifi.RSSI', { unit: '%' }],
  ['Wifi.Signal', { unit: 'dBm', kind: 'signal_strength' }],
  ['UptimeSec', { unit: 's', kind: 'duration' }],
  ['BatteryPercentage', { unit: '%', kind: 'battery' }],
  ['Dimmer', { unit: '%' }],
])
/** Of a Zigbee node, whose Power is 1 or 0. The Battery of a LoRa node is a voltage. */
const zigbeeQuantities = new Map<string, ResourceDescription>([
  ['Humidity', { unit: '%', kind: 'humidity' }],
  ['Voltage', { unit: 'V', kind: 'voltage' }],
  ['Battery', { unit: '%', kind: 'battery' }],
])
/** Quantities whose unit the message names. */
const namedUnits = new Map<string, { readonly member: string; readonly kind?: string }>([
  ['Temperature', { member: 'TempUnit', kind: 'temperature' }],
  ['DewPoint', { member: 'TempUnit', kind: 'temperature' }],
  ['Pressure', { member: 'PressureUnit', kind: 'pressure' }],
  ['SeaPressure', { member: 'PressureUnit', kind: 'pressure' }],
  ['Speed', { member: 'SpeedUnit', kind: 'wind_speed' }],
])
const units: Readonly<Record<string, ReadonlyMap<unknown, string>>> = {
  TempUnit: new Map([...'CF'].map(letter => [letter, `°${letter}`])),
  PressureUnit: new Map(['hPa', 'mmHg', 'inHg'].map(unit => [unit, unit])),
  SpeedUnit: new Map(['m/s', 'km/h', 'kn', 'mph', 'ft/s', 'yd/s'].map(unit => [unit, unit])),
}

/** @param members the top level of the message, which names units for all of its sensors */
function describe(key: string, members: Readonly<Record<string, unknown>>): ResourceDescription | undefined {
  const node = /^(Zb|Lw)Received\..*\.(\w+)$/.exec(key)
  if (node) return node[1] === 'Zb' ? zigbeeQuantities.get(node[2] ?? '') : undefined
  const whole = wholeKeys.get(key)
  if (whole) return whole
  // `Temperature1` of ANALOG, `Speed.Avg` of TX23, `Total.Phase1` of ENERGY; PM2.5 holds a dot.
  const path = key.replace(/\.(?:Act|Avg|Min|Max|Phase\d)$/, '')
  const name = path.endsWith('PM2.5') ? 'PM2.5' : path.slice(path.lastIndexOf('.') + 1)
  const plain = name.replace(/\d+$/, '')
  const named = namedUnits.get(plain)
  const unit = named && units[named.member]?.get(members[named.member])
  if (named) return unit === undefined ? undefined : { unit, ...(named.kind && { kind: named.kind }) }
  return (path === key ? undefined : wholeKeys.get(path)) ?? quantities.get(name) ?? quantities.get(plain)
}
