import type {
  DeviceDescription,
  Fact,
  Message,
  Outcome,
  ResourceDescription,
  SourceFormat,
  SourceReader,
  Unread,
} from '../format.ts'
import { decode, nothing, unreadable } from '../payload.ts'
import { type Announcement, configTopicOf, type Entity, isRead, mostOfDevice, readConfig } from './config.ts'
import { isBetter, type Learned, readState, StateTopics } from './state.ts'

/** Maximum number of entities of one source: those of 1,000 devices in a house. */
const mostOfSource = 20_000
/** Names that no description may have (contract §5.3). */
const reserved = new Set(['__proto__', 'constructor', 'prototype'])

interface Device {
  /** By discovery topic. */
  readonly messages: Map<string, Learned>
  /** The entity that has each key, and how many read the same member. */
  readonly keys: Map<string, { readonly entity: Entity; readonly uses: number }>
  entities: number
}

/** [MQTT discovery](https://www.home-assistant.io/integrations/mqtt/#mqtt-discovery) of Home Assistant. One fact for each message. */
export const homeAssistant: SourceFormat = { name: 'homeassistant', begin: () => new HomeAssistantReader() }

class HomeAssistantReader implements SourceReader {
  /** By discovery topic. */
  readonly #learned = new Map<string, Learned>()
  readonly #devices = new Map<string, Device>()
  readonly #states = new StateTopics()
  #entities = 0

  knows(topic: string): 'fact' | 'form' | undefined {
    if (configTopicOf(topic)) return 'form'
    return this.#states.has(topic) ? 'fact' : undefined
  }

  read({ topic, payload }: Message): Outcome {
    const config = configTopicOf(topic)
    if (!config) return readState(this.#states.of(topic), decode(payload))
    if (!isRead(config)) return nothing
    if (payload.length === 0) return this.#outcome(topic, undefined, [])
    const decoded = decode(payload)
    if (!decoded?.members) return unreadable(decoded, 'a JSON object')
    if (decoded.members.migrate_discovery === true) return nothing
    const unread: Unread[] = []
    const announcement = readConfig(config, decoded.members, unread)
    return this.#outcome(topic, this.#fitted(topic, announcement, unread), unread)
  }

  learn(name: string, fact: Fact | null): void {
    const former = this.#learned.get(name)
    if (former) this.#forget(name, former)
    if (!fact) return
    const learned = fact as Learned
    const device = this.#devices.get(learned.device) ?? { messages: new Map(), keys: new Map(), entities: 0 }
    this.#devices.set(learned.device, device)
    this.#learned.set(name, learned)
    device.messages.set(name, learned)
    device.entities += learned.entities.length
    this.#entities += learned.entities.length
    for (const entity of learned.entities) {
      const uses = device.keys.get(entity.key)?.uses ?? 0
      device.keys.set(entity.key, { entity, uses: uses + 1 })
    }
    this.#states.add(learned)
  }

  #forget(name: string, former: Learned): void {
    const device = this.#devices.get(former.device)
    this.#states.remove(former)
    this.#learned.delete(name)
    this.#entities -= former.entities.length
    if (!device) return
    device.messages.delete(name)
    device.entities -= former.entities.length
    for (const { key } of former.entities) {
      const use = device.keys.get(key)
      if (use && use.uses > 1) device.keys.set(key, { ...use, uses: use.uses - 1 })
      else device.keys.delete(key)
    }
    if (device.messages.size === 0) this.#devices.delete(former.device)
  }

  describe(device: string): DeviceDescription | undefined {
    const known = this.#devices.get(device)
    if (!known) return undefined
    const best = new Map<string, Entity>()
    const others: Entity[] = []
    let name: string | undefined
    let alias: string | undefined
    for (const learned of known.messages.values()) {
      name ??= learned.name
      alias ??= learned.alias
      for (const entity of learned.entities) {
        const former = best.get(entity.key)
        const isBest = !former || isBetter(entity, former)
        if (isBest) best.set(entity.key, entity)
        if (former) others.push(isBest ? former : entity)
      }
    }
    const resources = new Map<string, ResourceDescription>()
    for (const [key, entity] of best) if (!reserved.has(key)) resources.set(key, descriptionOf(entity))
    // Another entity of the member may have been announced, and written as its description, before the best one.
    for (const other of others) {
      const described = resources.get(other.key)
      if (described) resources.set(other.key, { ...withoutValues(descriptionOf(other)), ...described })
    }
    return {
      ...(name !== undefined && { name }),
      ...(alias !== undefined && { alias }),
      resources: Object.fromEntries(resources),
    }
  }

  /**
   * What an announcement teaches: as many entities as there is room for, each with a key that no other member of the device has.
   *
   * @param unread where the entities that do not fit are named
   */
  #fitted(topic: string, announcement: Announcement, unread: Unread[]): Learned | undefined {
    const { device, alias, name, entities } = announcement
    const former = this.#learned.get(topic)
    const own = former?.device === device ? former.entities : []
    const known = this.#devices.get(device)
    const room = Math.min(
      mostOfDevice - (known?.entities ?? 0) + own.length,
      mostOfSource - this.#entities + (former?.entities.length ?? 0),
    )
    if (entities.length > room)
      unread.push({
        place: '',
        reason: `must be at most ${room} entities more (${mostOfDevice} of a device, ${mostOfSource} of a source), but it is ${entities.length}`,
      })
    // Most messages announce one entity, and many come at once: no maps for those.
    const before = own.length > 1 ? new Map(own.map(entity => [entity.id, entity])) : undefined
    const used = entities.length > 1 ? new Map<string, Entity>() : undefined
    const fitted: Entity[] = []
    for (const { entity, otherKeys } of entities.slice(0, room)) {
      const isFree = (key: string) => {
        const holder = used?.get(key) ?? known?.keys.get(key)?.entity
        return !holder || (holder.topic === entity.topic && isSamePath(holder, entity))
      }
      const same = before ? before.get(entity.id) : own[0]
      const ownKey = same?.id === entity.id && isSamePath(same, entity) ? same.key : undefined
      const key = ownKey ?? (isFree(entity.key) ? entity.key : otherKeys().find(isFree))
      if (key === undefined) {
        const reason = `must be the only entity with the key ${entity.key}, but it is not`
        unread.push({ place: entity.id.slice(0, 100), reason })
        continue
      }
      used?.set(key, entity)
      fitted.push(key === entity.key ? entity : { ...entity, key })
    }
    return fitted.length > 0 ? { device, alias, name, entities: fitted } : undefined
  }

  /** The outcome of a discovery message. @param learned undefined: the message announces nothing that is read */
  #outcome(topic: string, learned: Learned | undefined, unread: readonly Unread[]): Outcome {
    const former = this.#learned.get(topic)
    if (former ? learned && isSame(former, learned) : !learned) return { readings: [], unread }
    const facts = new Map<string, Fact | null>().set(topic, learned ?? null)
    const described = learned ? [learned.device] : []
    const gone: string[] = []
    if (former && former.device !== learned?.device) {
      const isGone = this.#devices.get(former.device)?.messages.size === 1
      ;(isGone ? gone : described).push(former.device)
    }
    return { readings: [], facts, described, gone, unread }
  }
}

/** Whether a discovery message says again what is known. A bridge repeats all of them when it starts. */
function isSame(former: Learned, learned: Learned): boolean {
  return (
    former.device === learned.device &&
    former.name === learned.name &&
    former.entities.length === learned.entities.length &&
    learned.entities.every((entity, at) => {
      const before = former.entities[at]
      return before && isSamePath(before, entity) && plainMembers.every(name => before[name] === entity[name])
    })
  )
}

const plainMembers = [
  'id',
  'topic',
  'key',
  'as',
  'on',
  'off',
  'name',
  'unit',
  'kind',
  'total',
  'decimals',
  'hidden',
] as const

function isSamePath({ path }: Entity, other: Entity): boolean {
  return path.length === other.path.length && path.every((name, at) => other.path[at] === name)
}

function withoutValues(description: ResourceDescription): ResourceDescription {
  return Object.fromEntries(Object.keys(description).map(name => [name, null]))
}

function descriptionOf({ name, unit, kind, total, decimals, hidden }: Entity): ResourceDescription {
  const members = { name, unit, kind, total, decimals, hidden }
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}
