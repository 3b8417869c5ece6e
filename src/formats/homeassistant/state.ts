import type { Outcome, SentRecord } from '../format.ts'
import { nothing, type Payload, unreadable } from '../payload.ts'
import { bareReading, flatten, isNoReading } from '../reading.ts'
import type { Entity } from './config.ts'
import type { Path } from './template.ts'

/** Maximum number of entities that one message feeds. */
const mostOfMessage = 1_000
/** Maximum number of levels that are `+` in front of a state topic. */
const mostWildcards = 3

/** What one discovery message teaches. */
export type Learned = {
  readonly device: string
  readonly alias: string | undefined
  readonly name: string | undefined
  readonly entities: readonly Entity[]
}

/** The entities of a device that one message feeds, each with a key of its own. */
interface Fed {
  readonly device: string
  readonly alias: string | undefined
  readonly entities: readonly Entity[]
}

interface StateTopic {
  readonly announced: Map<Learned, Entity[]>
  /** Made of `announced` by the first message after a change. */
  fed?: readonly Fed[] | undefined
}

/** The entities by state topic. */
export class StateTopics {
  readonly #topics = new Map<string, StateTopic>()
  #wildcards = 0

  add(learned: Learned): void {
    for (const entity of learned.entities) {
      const known = this.#topics.get(entity.topic)
      const topic: StateTopic = known ?? { announced: new Map() }
      if (!known) this.#put(entity.topic, topic)
      const entities = topic.announced.get(learned)
      if (entities) entities.push(entity)
      else topic.announced.set(learned, [entity])
      topic.fed = undefined
    }
  }

  remove(learned: Learned): void {
    for (const { topic: name } of learned.entities) {
      const topic = this.#topics.get(name)
      if (!topic?.announced.delete(learned)) continue
      topic.fed = undefined
      if (topic.announced.size > 0) continue
      this.#topics.delete(name)
      if (name.startsWith('+')) this.#wildcards -= 1
    }
  }

  has(topic: string): boolean {
    return this.#matching(topic).length > 0
  }

  /** What a message on a topic feeds. */
  of(topic: string): readonly Fed[] {
    const topics = this.#matching(topic)
    const [only] = topics
    if (!only || topics.length > 1) return fedBy(topics)
    only.fed ??= fedBy(topics)
    return only.fed
  }

  #put(name: string, topic: StateTopic): void {
    this.#topics.set(name, topic)
    if (name.startsWith('+')) this.#wildcards += 1
  }

  /** By the topic itself, and by filters that have `+` for levels in front. */
  #matching(topic: string): StateTopic[] {
    const exact = this.#topics.get(topic)
    const found = exact ? [exact] : []
    if (this.#wildcards === 0) return found
    let rest = topic
    for (let count = 1; count <= mostWildcards && rest.includes('/'); count += 1) {
      rest = rest.slice(rest.indexOf('/') + 1)
      const filter = this.#topics.get('+/'.repeat(count) + rest)
      if (filter) found.push(filter)
    }
    return found
  }
}

function fedBy(topics: readonly StateTopic[]): readonly Fed[] {
  const devices = new Map<string, { alias: string | undefined; entities: Map<string, Entity> }>()
  for (const { announced } of topics) {
    for (const [{ device, alias }, entities] of announced) {
      const fed = devices.get(device) ?? { alias, entities: new Map<string, Entity>() }
      devices.set(device, fed)
      for (const entity of entities) {
        const former = fed.entities.get(entity.key)
        if (!former || isBetter(entity, former)) fed.entities.set(entity.key, entity)
      }
    }
  }
  return [...devices].map(([device, { alias, entities }]) => ({
    device,
    alias,
    entities: [...entities.values()],
  }))
}

/** Whether an entity says more of a member than another one: a switch more than a sensor, both more than a template that computes. */
export function isBetter(entity: Entity, other: Entity): boolean {
  return rank(entity) > rank(other)
}

function rank({ as, on, unit }: Entity): number {
  if (as === 'raw') return 0
  return on !== undefined ? 3 : unit !== undefined ? 2 : 1
}

/** Reads a message on a state topic. */
export function readState(fed: readonly Fed[], payload: Payload | undefined): Outcome {
  if (!payload) return unreadable(payload, 'UTF-8')
  if (isNoReading(payload.text)) return nothing
  const isObject = typeof payload.json === 'object' && payload.json !== null
  const readings = []
  let count = 0
  let wanted: string | undefined
  for (const { device, alias, entities } of fed) {
    const records: SentRecord[] = []
    for (const entity of entities) {
      count += 1
      if (count > mostOfMessage) wanted = `read by at most ${mostOfMessage} entities`
      else if (isObject === entity.path.length > 0) addRecords(records, entity, payload)
      else wanted ??= isObject ? 'one value, since the discovery message names no member' : 'a JSON object'
    }
    if (records.length > 0)
      readings.push(alias === undefined ? { device, records } : { device, alias, records })
  }
  const unread = wanted === undefined ? undefined : unreadable(payload, wanted).unread
  return unread ? { readings, unread } : { readings }
}

function addRecords(records: SentRecord[], entity: Entity, { text, json }: Payload): void {
  const { key, path } = entity
  const value = path.length === 0 ? text : memberAt(json, path)
  if (isNoReading(value)) return
  if (typeof value === 'object' && !Array.isArray(value)) records.push(...flatten(value, key))
  else records.push({ key, value: readingOf(entity, value) })
}

function memberAt(json: unknown, path: Path): unknown {
  let value = json
  for (const name of path) {
    if (typeof value !== 'object' || value === null) return undefined
    const isThere = Array.isArray(value) ? typeof name === 'number' : Object.hasOwn(value, name)
    if (!isThere) return undefined
    value = (value as Record<string | number, unknown>)[name]
  }
  return value
}

/** A bare payload is read as other bare texts are; a text in JSON stays one, unless the entity is a number. */
function readingOf({ as, on, off, path }: Entity, value: unknown): unknown {
  if (typeof value === 'object') return value
  if (on !== undefined && off !== undefined) {
    if (isState(value, on)) return true
    if (isState(value, off)) return false
  }
  if (typeof value !== 'string' || as === 'text') return value
  if (path.length > 0 && as !== 'number') return value
  const bare = bareReading(value)
  return path.length === 0 || typeof bare === 'number' ? bare : value
}

/** Home Assistant spells a boolean `True`, and devices name it `true` as often. */
function isState(value: unknown, state: string): boolean {
  return typeof value === 'boolean' ? String(value) === state.toLowerCase() : String(value) === state
}
