import type { Thing } from '../helpers/http-client.ts'
import type { Message } from '../helpers/mqtt-client.ts'
import { type Version, versionNames } from '../helpers/mqtt-versions.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import { eventually } from '../helpers/waiting.ts'
import { openLink } from './mqtt-link.ts'
import {
  type Due,
  type FindingKind,
  Findings,
  type Ledger,
  type Recognised,
  recognise,
  type ThingLedger,
  valueLanes,
} from './plan.ts'

/** Follows one order of messages at one subscriber: each that is due comes once, in its place. */
export class SequenceCheck {
  readonly name: string
  readonly #due: readonly Due[]
  readonly #isWanted: (item: Due) => boolean
  /** Passed over, and not come since. */
  readonly #passed = new Set<number>()
  /** Come before, on a connection that broke before the server can have known. */
  readonly #repeatable = new Set<number>()
  #lastRepeated = -1
  #next: number | undefined

  /**
   * @param due grows while it is followed
   * @param isWanted whether this subscriber is to get it in any case; what it need not get, it may get in its place
   * @param startsAnywhere whether it begins with whatever comes first
   */
  constructor(name: string, due: readonly Due[], isWanted: (item: Due) => boolean, startsAnywhere = false) {
    this.name = name
    this.#due = due
    this.#isWanted = isWanted
    this.#next = startsAnywhere ? undefined : 0
  }

  /** The message with this place has come. @returns what is wrong with that */
  take(place: number, dup = false): FindingKind | 'repeated' | undefined {
    if (!this.#due[place]) return 'unexpected'
    this.#next ??= place
    if (place >= this.#next) {
      for (let passed = this.#next; passed < place; passed++) this.#passed.add(passed)
      this.#next = place + 1
      return undefined
    }
    if (this.#passed.delete(place)) return 'out of order'
    if (!dup || !this.#repeatable.delete(place)) return 'doubled'
    const isInOrder = place > this.#lastRepeated
    this.#lastRepeated = place
    return isInOrder ? 'repeated' : 'out of order'
  }

  /** A new connection: these, and those of earlier ones that did not come, may come once more, with DUP, in order. */
  allowAgain(places: Iterable<number>): void {
    for (const place of places) this.#repeatable.add(place)
    this.#lastRepeated = -1
  }

  /** What is wanted and has not come; of a subscriber that was cut off, what was passed over. */
  missing(isCutOff = false): number[] {
    const next = this.#next ?? 0
    const length = isCutOff ? 0 : this.#due.length - next
    const ahead = Array.from({ length }, (_, index) => next + index)
    return [...this.#passed, ...ahead].filter(place => this.#isDue(place))
  }

  #isDue(place: number): boolean {
    const item = this.#due[place]
    return item !== undefined && this.#isWanted(item)
  }
}

export interface CheckSetup {
  readonly ledger: Ledger
  /** Places of the things whose every message is to come. */
  readonly places: readonly number[]
  /** What it subscribes to: messages on `things/<ref>/values/<key>`, or on `v2/things/<ref>`. Default `values`. */
  readonly messages?: 'values' | 'arrays'
  /** Default: every key. */
  readonly keys?: readonly string[]
  /** Whether messages of `store=false` writes are to come in any case. Default true. */
  readonly missesNothing?: boolean
  /** It subscribes while writes go on: retained messages are none of its business, and it begins where it begins. */
  readonly joinsLate?: boolean
  /** How its topics name things. Default `thingId`. */
  readonly spelling?: keyof Thing
}

/** Compares the messages that a subscriber gets with the ledger. */
export class Check {
  readonly findings = new Findings()
  /** Messages that were right. */
  taken = 0
  readonly #setup: CheckSetup
  /** By what is due. */
  readonly #sequences = new Map<readonly Due[], SequenceCheck>()

  constructor(setup: CheckSetup) {
    this.#setup = setup
    const { ledger, places, messages, keys, missesNothing = true, joinsLate } = setup
    const isWanted = (due: Due) =>
      (missesNothing || due.isKept) && (keys === undefined || keys.includes(due.key))
    for (const place of places) {
      for (const lane of messages === 'arrays' ? (['array'] as const) : valueLanes) {
        const due = ledger.things[place]?.due[lane] ?? []
        this.#sequences.set(due, new SequenceCheck(`thing ${place} ${lane}`, due, isWanted, joinsLate))
      }
    }
  }

  /** @returns what it is, if it may come */
  take(message: Message): Recognised | undefined {
    const { ledger, joinsLate, keys, spelling = 'thingId' } = this.#setup
    if (message.retain && joinsLate) return undefined
    if (message.retain) {
      this.findings.add('retained', `${message.topic} to a subscriber of old, behind ${this.taken} messages`)
      return undefined
    }
    const recognised = recognise(ledger, message, this.findings)
    if (!recognised) return undefined
    const { thing, lane, place, due } = recognised
    if (!message.topic.split('/').includes(thing.thing[spelling])) {
      this.findings.add('altered', `${message.topic}, where the subscription has the ${spelling}`)
    }
    const sequence = this.#sequences.get(thing.due[lane])
    if (!sequence || keys?.includes(due.key) === false) {
      this.findings.add('unexpected', message.topic)
      return undefined
    }
    const wrong = sequence.take(place, message.dup)
    if (wrong === undefined) this.taken++
    if (wrong === undefined || wrong === 'repeated') return recognised
    this.findings.add(wrong, `${sequence.name} ${place}`)
    return undefined
  }

  /** A new connection: these may come once more, with DUP, since nothing shows that their acks were read. */
  allowAgain(messages: readonly Recognised[]): void {
    for (const [due, sequence] of this.#sequences) {
      const own = messages.filter(({ thing, lane }) => thing.due[lane] === due)
      sequence.allowAgain(own.map(({ place }) => place))
    }
  }

  /** Messages that are due and have not come. */
  countMissing(): number {
    return [...this.#sequences.values()].reduce((sum, sequence) => sum + sequence.missing().length, 0)
  }

  /** Notes what has not come, when nothing more is expected. @param isCutOff only what was passed over */
  finish(isCutOff = false): void {
    for (const sequence of this.#sequences.values()) {
      const missing = sequence.missing(isCutOff)
      if (missing.length === 0) continue
      const [first, last] = [Math.min(...missing.slice(0, 1_000)), Math.max(...missing.slice(-1_000))]
      this.findings.add('lost', `${sequence.name}, among ${first}..${last}`, missing.length)
    }
  }
}

/** A message of one lane of a thing, as one SUBSCRIBE brought it. */
export interface JoinMessage {
  /** Its place in the lane. */
  readonly place: number
  readonly retain: boolean
}

/**
 * Judges what a new subscriber of one thing got: one retained message for each key, each as new as what was acked before
 * it subscribed or newer; live messages without a gap to the retained ones and among each other; no retained message
 * behind a newer live one, and no live one behind a retained one that is as new.
 *
 * @param due the lane; what is latest of each of its keys is what was written last
 * @param messages in the order in which they came
 * @param acked how many of the lane were acked before the SUBSCRIBE
 */
export function judgeJoin(due: readonly Due[], messages: readonly JoinMessage[], acked: number) {
  const found: { readonly kind: FindingKind; readonly what: string }[] = []
  const note = (kind: FindingKind, what: string) => void found.push({ kind, what })
  const keyOf = (place: number) => due[place]?.key ?? ''
  const retained = new Map<string, number>()
  const live = new Map<string, number>()
  let lastLive: number | undefined
  for (const { place, retain } of messages) {
    const key = keyOf(place)
    if (retain) {
      if (retained.has(key)) note('retained', `${key} twice`)
      if (place < (live.get(key) ?? -1)) note('retained', `${key} ${place} behind live ${live.get(key)}`)
      retained.set(key, place)
    } else {
      const kept = retained.get(key) ?? -1
      if (place <= kept) note('doubled', `${key} ${place} live behind retained ${kept}`)
      if (lastLive !== undefined && place <= lastLive) note('out of order', `${place} behind ${lastLive}`)
      live.set(key, place)
      lastLive = place
    }
  }
  for (let place = 0; place < acked; place++) {
    const key = keyOf(place)
    const newest = retained.get(key)
    if (!due[place]?.isKept || (newest ?? -1) >= place) continue
    note('retained', newest === undefined ? `${key} missing` : `${key} ${newest}, though ${place} was acked`)
  }
  const lives = new Set(messages.filter(({ retain }) => !retain).map(({ place }) => place))
  const newestRetained = Math.max(-1, ...retained.values())
  const from = Math.min(...lives, newestRetained + 1)
  for (let place = from; place < (lastLive ?? 0); place++) {
    if (due[place]?.isKept && !lives.has(place))
      note('lost', `${place} between retained ${newestRetained} and live`)
  }
  return found
}

export interface RetainedResult {
  readonly name: string
  readonly findings: Findings
  readonly taken: number
}

/**
 * A new subscriber of everything at a node, when nothing is written any more: it gets what is latest of each resource, with
 * RETAIN, byte by byte what REST gives at every node, and nothing else.
 */
export async function checkRetained(
  ledger: Ledger,
  node: ServerProcess,
  nodes: readonly ServerProcess[],
  version: Version,
): Promise<RetainedResult> {
  const name = `late at ${node.mqttUrl}, ${versionNames[version]}`
  const findings = new Findings()
  const retained = new Map<string, string>()
  const client = await openLink({
    version,
    url: node.mqttUrl,
    password: node.adminKey,
    clientId: name,
    onMessage: ({ topic, payload, retain }) => {
      if (!retain) findings.add('retained', `${topic} without RETAIN`)
      if (retained.has(topic)) findings.add('doubled', topic)
      retained.set(topic, payload.toString())
    },
  })
  await client.subscribeTo({ topic: 'things/+/values/#', qos: 1 })
  const latest = new Map(ledger.things.flatMap(thing => [...latestOf(thing)]))
  await eventually(() => retained.size >= latest.size)
  // What comes too much comes before this is answered.
  await client.ping()
  for (const [topic, due] of latest) {
    const text = retained.get(topic)
    if (text === undefined) findings.add('lost', topic)
    else if (!text.startsWith(`{"key":"${due.key}","value":${due.value},`))
      findings.add('altered', `${topic} ${text}`)
  }
  for (const [topic, text] of retained) {
    if (!latest.has(topic)) findings.add('unexpected', topic)
    const [, thingId = '', , key] = topic.split('/')
    const { thingToken } = ledger.find(thingId)?.thing ?? {}
    for (const { url } of nodes) {
      const response = await fetch(`${url}/v2/things/${thingToken}/resources/${key}`)
      const answer = await response.text()
      if (answer !== `[${text}]`) findings.add('altered', `${text}, where REST gives ${answer}`)
    }
  }
  await client.disconnect()
  return { name, findings, taken: retained.size }
}

/** What is latest by datetime of each resource, by the topic of its retained message. */
function latestOf({ thing, due, silent }: ThingLedger): Map<string, Due> {
  const latest = new Map<string, Due>()
  for (const message of [...valueLanes.flatMap(lane => due[lane]), ...silent]) {
    const topic = `things/${thing.thingId}/values/${message.key}`
    const { datetime = '' } = latest.get(topic) ?? {}
    if (message.isKept && (message.datetime ?? '') >= datetime) latest.set(topic, message)
  }
  return latest
}
