import type {
  DeviceDescription,
  Fact,
  Message,
  Outcome,
  ResourceDescription,
  SourceFormat,
  SourceReader,
  Unread,
} from './format.ts'
import {
  type Announcement,
  configTopicOf,
  type Entity,
  isRead,
  mostOfDevice,
  readConfig,
} from './homeassistant-config.ts'
import { isBetter, type Learned, readState, StateTopics } from './homeassistant-state.ts'
import { decode, nothing, unreadable } from './payload.ts'

/** Maximum number of entities of one source: those of 1,000 devices in a house. */
const mostOfSource = 20_000
/** Names that no description may have (contract §5.3). */
const reserved = new Set(['__proto__', 'constructor', 'prototype'])

interface Device {
  /** By discovery topic. */
  readonly messages: Map<string, Learned>
  /** The member that has each key, and how many entities read it. */
  readonly keys: Map<string, { readonly member: string; readonly uses: number }>
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
    const announcement = readConfig(config, decoded.members)
    const unread = [...announcement.unread]
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
      device.keys.set(entity.key, { member: memberOf(entity), uses: uses + 1 })
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
    let name: string | undefined
    for (const learned of known.messages.values()) {
      name ??= learned.name
      for (const entity of learned.entities) {
        const former = best.get(entity.key)
        if (!former || isBetter(entity, former)) best.set(entity.key, entity)
      }
    }
    const resources = [...best]
      .filter(([key]) => !reserved.has(key))
      .map(([key, entity]) => [key, descriptionOf(entity)])
    return { ...(name !== undefined && { name }), resources: Object.fromEntries(resources) }
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
        reason: `must add at most ${room} entities (a device has at most ${mostOfDevice}, a source ${mostOfSource}), but it adds ${entities.length}`,
      })
    const ownKeys = new Map(own.map(entity => [identityOf(entity), entity.key]))
    const used = new Map<string, string>()
    const fitted: Entity[] = []
    for (const { otherKeys, ...entity } of entities.slice(0, room)) {
      const member = memberOf(entity)
      const isFree = (key: string) => (used.get(key) ?? known?.keys.get(key)?.member ?? member) === member
      const ownKey = ownKeys.size > 0 ? ownKeys.get(identityOf(entity)) : undefined
      const key = ownKey ?? (isFree(entity.key) ? entity.key : otherKeys().find(isFree))
      if (key === undefined) {
        const reason = `must have a key of its own, but ${entity.key} is taken`
        unread.push({ place: entity.id.slice(0, 100), reason })
        continue
      }
      used.set(key, member)
      fitted.push({ ...entity, key })
    }
    return fitted.length > 0 ? { device, alias, name, entities: fitted } : undefined
  }

  /** The outcome of a discovery message. @param learned undefined: the message announces nothing that is read */
  #outcome(topic: string, learned: Learned | undefined, unread: readonly Unread[]): Outcome {
    const former = this.#learned.get(topic)
    const outcome = unread.length > 0 ? { readings: [], unread } : nothing
    if (!former && !learned) return outcome
    if (former && learned && JSON.stringify(former) === JSON.stringify(learned)) return outcome
    const left = former && former.device !== learned?.device ? [former.device] : []
    const gone = left.filter(device => this.#devices.get(device)?.messages.size === 1)
    return {
      ...outcome,
      facts: new Map([[topic, learned ?? null]]),
      described: [...(learned ? [learned.device] : []), ...(gone.length > 0 ? [] : left)],
      gone,
    }
  }
}

/** A member of the messages on a topic, as one text. */
const memberOf = ({ topic, path }: Pick<Entity, 'topic' | 'path'>) => [topic, ...path].join('\n')

/** What an entity reads, whatever its topic is called now. */
const identityOf = ({ id, path }: Pick<Entity, 'id' | 'path'>) => [id, ...path].join('\n')

function descriptionOf({ name, unit, kind, total, decimals, hidden }: Entity): ResourceDescription {
  const members = { name, unit, kind, total, decimals, hidden }
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}
