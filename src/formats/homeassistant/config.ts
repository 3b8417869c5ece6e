import type { Unread } from '../format.ts'
import { cutName, longestKind, longestUnit, membersOf, textOf } from '../payload.ts'
import { keyOf } from '../reading.ts'
import { type Path, readTemplate } from './template.ts'

/** One value that a device publishes: a part of a fact. */
export type Entity = {
  /** The object id in the discovery topic, or the name of the component. */
  readonly id: string
  /** The state topic, in which levels in front may be `+`: gateways announce devices that any of them may hear. */
  readonly topic: string
  /** Where the value stands in the payload; empty: the payload is the value. */
  readonly path: Path
  readonly key: string
  /** `raw`: the template computes, so that the member is stored as it is. */
  readonly as: 'number' | 'text' | 'raw' | undefined
  /** The texts of true and false. */
  readonly on: string | undefined
  readonly off: string | undefined
  readonly name: string | undefined
  readonly unit: string | undefined
  readonly kind: string | undefined
  readonly total: boolean | undefined
  readonly decimals: number | undefined
  readonly hidden: boolean | undefined
}

export interface AnnouncedEntity {
  /** With the key that says most. */
  readonly entity: Entity
  /** Keys in case that another member has that one. */
  readonly otherKeys: () => readonly string[]
}

/** What one discovery message says. */
export interface Announcement {
  readonly device: string
  readonly alias: string | undefined
  readonly name: string | undefined
  readonly entities: readonly AnnouncedEntity[]
}

interface ConfigTopic {
  readonly component: string
  readonly node: string | undefined
  readonly id: string
}

/** What the entities of a message share. */
interface Shared {
  /** The message. */
  readonly config: Members
  readonly name: string | undefined
  /** All texts with which its object ids may begin. */
  readonly names: readonly string[]
  /** Characters of templates that are still looked at. */
  room: number
}

type Members = Readonly<Record<string, unknown>>

/** Maximum number of components that are read of one message, and of entities of one device: a battery announces some 300. */
export const mostOfDevice = 1_000
/** Maximum length of a state topic, characters. */
const longestTopic = 1_000
/** A topic, in which levels in front may be `+`. */
const stateTopic = /^(?:\+\/){0,3}[^+#]+$/
/** Maximum number of characters of all templates of a message. A device with 1,000 entities has 50,000. */
const mostTemplates = 65_536
const mostDecimals = 10
/** Maximum length of the name of an entity that is read, characters. Of one that is too long for a description the begin is kept. */
const longestEntityName = 1_000
/** A Zigbee address at the end of an identifier, `zigbee2mqtt_0x00158d00018255df`. */
const zigbeeAddress = /_(0x[0-9a-f]{16})$/

/** Components of Home Assistant whose state is one value. */
const measured = new Set(['sensor', 'binary_sensor', 'number', 'switch', 'select', 'text'])
const components = new Set(
  [
    ...measured,
    'alarm_control_panel button camera climate cover date datetime device device_automation device_tracker event fan',
    'humidifier image lawn_mower light lock notify scene siren tag time update vacuum valve water_heater',
  ].flatMap(names => names.split(' ')),
)

/** The parts of a discovery topic, `<prefix>/<component>/[<node>/]<object id>/config`; undefined for any other topic. */
export function configTopicOf(topic: string): ConfigTopic | undefined {
  if (!topic.endsWith('/config')) return undefined
  const idAt = topic.lastIndexOf('/', topic.length - '/config'.length - 1) + 1
  const middleAt = topic.lastIndexOf('/', idAt - 2) + 1
  if (middleAt < 2) return undefined
  const id = topic.slice(idAt, -'/config'.length)
  const middle = topic.slice(middleAt, idAt - 1)
  // Home Assistant takes no empty level, and a device would have no name.
  if (id === '' || middle === '') return undefined
  const beforeAt = topic.lastIndexOf('/', middleAt - 2) + 1
  const before = topic.slice(beforeAt, middleAt - 1)
  if (beforeAt > 1 && components.has(before)) return { component: before, node: middle, id }
  return components.has(middle) ? { component: middle, node: undefined, id } : undefined
}

/** Whether discovery messages of a component may announce an entity that is read. */
export function isRead({ component }: ConfigTopic): boolean {
  return component === 'device' || measured.has(component)
}

/**
 * Reads a discovery message. Members have long names, or those that Home Assistant abbreviates them to.
 *
 * @param unread where entities that are not read are named
 */
export function readConfig(
  { component, node, id }: ConfigTopic,
  config: Members,
  unread: Unread[],
): Announcement {
  const described = membersOf(config.device ?? config.dev) ?? {}
  const name = textOf(described.name)
  const identifiers = identifiersOf(described)
  const [identifier] = identifiers
  // Zigbee2MQTT announces its devices here, too; its own list has their addresses.
  const address = zigbeeAddress.exec(identifier ?? '')?.[1]
  const device = address ?? identifier ?? node ?? id
  const names = [...identifiers, name ?? '', node ?? '']
  const shared: Shared = { config, name, names, room: mostTemplates }
  const entities: AnnouncedEntity[] = []
  const add = (platform: unknown, members: Members, part: string, place: string) => {
    const found = entityOf(platform, members, part, shared)
    if (found && 'reason' in found) unread.push({ place: place + found.place, reason: found.reason })
    else if (found) {
      entities.push(found)
      for (const mistake of overlong(members))
        unread.push({ place: place + mistake.place, reason: mistake.reason })
    }
  }
  if (component === 'device') {
    const parts = Object.entries(membersOf(config.components ?? config.cmps) ?? {})
    for (const [part, value] of parts.slice(0, mostOfDevice)) {
      const members = membersOf(value) ?? {}
      const isRemoved = Object.keys(members).length === 1
      if (!isRemoved) add(members.platform ?? members.p, members, part, `components.${part.slice(0, 100)}.`)
    }
    if (parts.length > mostOfDevice)
      unread.push({
        place: 'components',
        reason: `must be at most ${mostOfDevice}, but they are ${parts.length}`,
      })
  } else add(component, config, id, '')
  // By the same name, `lamp` of `zigbee2mqtt/lamp`, the format zigbee2mqtt knows a device that is in no list yet.
  const alias = address && entities[0] ? entities[0].entity.topic.replace(/^zigbee2mqtt\//, '') : identifier
  return { device, alias, name, entities }
}

/** `identifiers`; without them the addresses of `connections`, MAC addresses first. */
function identifiersOf(device: Members): string[] {
  const identifiers = textsOf(device.identifiers ?? device.ids)
  if (identifiers.length > 0) return identifiers
  const connections = device.connections ?? device.cns
  const pairs = Array.isArray(connections) ? connections.filter(Array.isArray).slice(0, 10) : []
  const [mac] = pairs.filter(([type]) => type === 'mac')
  return textsOf([mac, ...pairs].flatMap(pair => (pair ? [pair[1]] : [])))
}

function textsOf(value: unknown): string[] {
  const texts: string[] = []
  for (const member of Array.isArray(value) ? value.slice(0, 10) : [value]) {
    const text = textOf(typeof member === 'number' ? String(member) : member)
    if (text !== undefined) texts.push(text)
  }
  return texts
}

/** The entity that one component announces; undefined if it has no state that is read. */
function entityOf(
  platform: unknown,
  members: Members,
  id: string,
  shared: Shared,
): AnnouncedEntity | Unread | undefined {
  const topic = stateTopicOf(members, shared.config)
  if (topic === undefined || typeof platform !== 'string' || !measured.has(platform)) return undefined
  if (!stateTopic.test(topic))
    return {
      place: 'state_topic',
      reason:
        'must be a topic, in which + may stand for at most three levels in front, but it is another filter',
    }
  const wanted = members.value_template ?? members.val_tpl ?? ''
  const template = typeof wanted === 'string' ? wanted : '{{}}'
  shared.room -= template.length
  if (shared.room < 0)
    return {
      place: 'value_template',
      reason: `must be at most ${mostTemplates} characters with the other templates of the message, but it is more`,
    }
  const reading = template === '' ? bare : readTemplate(template)
  if ('reason' in reading) return { place: 'value_template', reason: reading.reason }
  const { path, computes } = reading
  const isSwitch = !computes && (platform === 'binary_sensor' || platform === 'switch')
  const unit = textOf(unitOf(members))
  const stateClass = textOf(members.state_class ?? members.stat_cla)
  const decimals = members.suggested_display_precision ?? members.sug_dsp_prc ?? reading.decimals
  const isNumber = platform === 'number' || (platform === 'sensor' && (unit ?? stateClass) !== undefined)
  const isText = platform === 'select' || platform === 'text'
  const own = () => withoutDevice(id, shared.names)
  // `value` says no more than the payload itself.
  const isNamed = path.length > 1 || (path.length === 1 && path[0] !== 'value')
  const entity: Entity = {
    id,
    topic,
    path,
    key: isNamed ? reading.key : keyOf(own()),
    as: computes ? 'raw' : isNumber ? 'number' : isText ? 'text' : undefined,
    on: isSwitch
      ? spelled(members.state_on ?? members.stat_on ?? members.payload_on ?? members.pl_on, 'ON')
      : undefined,
    off: isSwitch
      ? spelled(members.state_off ?? members.stat_off ?? members.payload_off ?? members.pl_off, 'OFF')
      : undefined,
    name: nameOf(members.name, shared.name),
    unit: computes ? undefined : textOf(unit, longestUnit),
    kind: computes ? undefined : textOf(kindOf(members), longestKind),
    total: (!computes && stateClass === 'total_increasing') || undefined,
    decimals: computes || !isDecimals(decimals) ? undefined : decimals,
    hidden: (members.enabled_by_default ?? members.en) === false || undefined,
  }
  const otherKeys = () => (isNamed ? [keyOf(own()), keyOf(own(), path.join('.'))] : [keyOf(platform, own())])
  return { entity, otherKeys }
}

const bare = { path: [], key: '', computes: false, decimals: undefined }

const unitOf = (members: Members) => members.unit_of_measurement ?? members.unit_of_meas
const kindOf = (members: Members) => members.device_class ?? members.dev_cla

/** Texts that no description takes. */
function* overlong(members: Members): Generator<Unread> {
  for (const [place, text, most] of [
    ['unit_of_measurement', unitOf(members), longestUnit],
    ['device_class', kindOf(members), longestKind],
  ] as const)
    if (typeof text === 'string' && text.length > most)
      yield { place, reason: `must be at most ${most} characters, but it is ${text.length}` }
}

/** The state topic; `~` at its beginning or end stands for the member `~`. */
function stateTopicOf(members: Members, config: Members): string | undefined {
  const topic = textOf(
    members.state_topic ?? members.stat_t ?? config.state_topic ?? config.stat_t,
    longestTopic,
  )
  const base = members['~'] ?? config['~']
  if (topic === undefined || typeof base !== 'string' || base.length > longestTopic) return topic
  if (topic.startsWith('~')) return base + topic.slice(1)
  return topic.endsWith('~') ? topic.slice(0, -1) + base : topic
}

/** The text of a state, which may be a number or a boolean. */
function spelled(state: unknown, otherwise: string): string {
  return typeof state === 'object' || state === undefined ? otherwise : String(state)
}

/** An object id without the name of the device in front: `temperature` for `kitchen_temperature` of the device Kitchen. */
function withoutDevice(id: string, names: readonly string[]): string {
  const begin = plain(id)
  const lengths = names.map(name => (begin.startsWith(plain(name)) ? name.length : 0))
  return id.slice(Math.max(...lengths)).replace(/^[^A-Za-z0-9]+/, '') || id
}

const plain = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, '_')

/** The name of an entity, without the name of its device in front; null stands for the name of the device. */
function nameOf(name: unknown, device: string | undefined): string | undefined {
  const text = name === null ? device : textOf(name, longestEntityName)
  if (text === undefined) return undefined
  const own = device !== undefined && text.startsWith(`${device} `) ? text.slice(device.length + 1) : text
  return cutName(own || text)
}

function isDecimals(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= mostDecimals
}
