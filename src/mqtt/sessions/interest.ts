import type { LiveWrite } from '../../live/index.ts'
import { parseThingFilter, type Selection, selectionOf } from '../topics.ts'

/** A filter that a client is subscribed to. */
export interface Subscription {
  /** With the id of its thing, never a token; `+` for every thing that the client may see. */
  readonly filter: string
  /**
   * Ids of the things for which a `+` stands; absent: every thing. A list, so that live, retained and missed messages need
   * no rule of their own.
   */
  readonly things?: readonly string[]
  /** Whether the client may see records alone: no refused writes. */
  readonly isReadOnly?: boolean
  /** As granted: messages are delivered at min(1, qos). */
  readonly qos: 0 | 1 | 2
  /** Write number: what was committed up to here is not for this subscription. */
  readonly from: number
  /** The client spelled the thing as a token when it subscribed. */
  readonly isSpelledAsToken?: boolean
  /** Write number as of which the session is owed retained messages that it has not acknowledged. */
  readonly owedRetained?: number
}

/** What a client wants of one thing: of each kind of message the highest QoS of the filters that match. */
interface Interest {
  /** QoS of messages on `values/<key>`; undefined: not wanted. */
  qosOf(key: string): 0 | 1 | undefined
  readonly whole: 0 | 1 | undefined
  readonly errors: 0 | 1 | undefined
}

type DeliveredQoS = 0 | 1

/** The subscriptions of one client, and what they come to. */
export class Interests {
  readonly #subscriptions = new Map<string, Subscription>()
  /** By thing id, `+` for the filters of every thing, and then by filter. */
  readonly #byRef = new Map<string, Map<string, Subscription>>()
  /** As of now, by thing id. */
  readonly #known = new Map<string, Interest>()

  constructor(subscriptions: Iterable<Subscription> = []) {
    for (const subscription of subscriptions) this.add(subscription)
  }

  get size(): number {
    return this.#subscriptions.size
  }

  /** Ids of the things that there are filters for. */
  *things(): Generator<string> {
    for (const ref of this.#byRef.keys()) if (ref !== '+') yield ref
  }

  /** Whether there is a filter for every thing that there is. */
  get ofEveryThing(): boolean {
    return this.#byRef.has('+')
  }

  /** Whether there is a filter for the thing. */
  covers(thingId: string): boolean {
    return this.#byRef.has(thingId) || this.ofEveryThing
  }

  /** In the order in which they were subscribed to. */
  [Symbol.iterator](): Iterator<Subscription> {
    return this.#subscriptions.values()
  }

  /** Takes the place of an earlier subscription with the same filter, whose messages it still owes (MQTT-3.8.4-3). */
  add(added: Subscription): void {
    const before = this.#subscriptions.get(added.filter)
    const isOwed = before !== undefined && before.qos > 0 && before.from < added.from
    this.delete(added.filter)
    this.#set(isOwed ? { ...added, from: before.from } : added)
  }

  /**
   * The client has missed what it is not sent again: it is to see the present.
   *
   * @param except filters of which it sees the present already
   * @returns the subscriptions for which it does not
   */
  oweRetained(writeNumber: number, except: ReadonlySet<string> = new Set()): readonly Subscription[] {
    const owed: Subscription[] = []
    for (const subscription of this.#subscriptions.values()) {
      const { filter } = subscription
      if (selectionOf(filter).values && !except.has(filter))
        owed.push({ ...subscription, owedRetained: writeNumber })
    }
    for (const subscription of owed) this.#set(subscription)
    return owed
  }

  /** The retained messages as of a write are acknowledged. */
  settleRetained(filter: string, writeNumber: number): void {
    const present = this.#subscriptions.get(filter)
    if (present?.owedRetained !== writeNumber) return
    const { owedRetained: _, ...settled } = present
    this.#set(settled)
  }

  delete(filter: string): void {
    const subscription = this.#subscriptions.get(filter)
    if (!subscription) return
    this.#subscriptions.delete(filter)
    for (const ref of refsOf(subscription)) {
      const ofRef = this.#byRef.get(ref)
      ofRef?.delete(filter)
      if (ofRef?.size === 0) this.#byRef.delete(ref)
    }
    this.#known.clear()
  }

  /** In its place, if it was there with the same things. */
  #set(subscription: Subscription): void {
    const { filter } = subscription
    this.#subscriptions.set(filter, subscription)
    for (const ref of refsOf(subscription)) {
      const ofRef = this.#byRef.get(ref) ?? new Map<string, Subscription>()
      this.#byRef.set(ref, ofRef.set(filter, subscription))
    }
    this.#known.clear()
  }

  /** What is wanted of a thing now. */
  in(thingId: string): Interest {
    // Things without a filter of their own have all the same: a subscriber of every thing must not remember each.
    const ref = this.#byRef.has(thingId) ? thingId : '+'
    const known = this.#known.get(ref)
    if (known) return known
    const interest = join(this.#of(thingId))
    this.#known.set(ref, interest)
    return interest
  }

  /** What of a write that was committed earlier is wanted at QoS 1, by the subscriptions that were there then. */
  missedOf(write: LiveWrite): Interest {
    const { thingId, writeNumber } = write.commit
    const then = this.#of(thingId).filter(({ from, qos }) => from < writeNumber && qos > 0)
    return join(then)
  }

  #of(thingId: string): readonly Subscription[] {
    return [thingId, '+'].flatMap(ref => [...(this.#byRef.get(ref)?.values() ?? [])])
  }
}

/** QoS at which the message at a place of a write is wanted; undefined: it is not. */
export function wantedQoS(write: LiveWrite, place: number, interest: Interest): DeliveredQoS | undefined {
  const key = write.keyAt(place)
  if (key !== undefined) return interest.qosOf(key)
  return write.hasWhole ? interest.whole : undefined
}

/** What a subscription is for: thing ids, or `+` for every thing. */
export function refsOf({ filter, things }: Pick<Subscription, 'filter' | 'things'>): readonly string[] {
  return things ?? [parseThingFilter(filter)?.ref ?? '']
}

function join(subscriptions: readonly Subscription[]): Interest {
  let every: DeliveredQoS | undefined
  let whole: DeliveredQoS | undefined
  let errors: DeliveredQoS | undefined
  const byKey = new Map<string, DeliveredQoS>()
  for (const { filter, qos: granted, isReadOnly = false } of subscriptions) {
    const qos = deliveredQoS(granted)
    const selection: Selection = selectionOf(filter)
    if (selection.whole) whole = higher(whole, qos)
    if (selection.errors && !isReadOnly) errors = higher(errors, qos)
    if (!selection.values) continue
    const { key } = selection.values
    if (key === undefined) every = higher(every, qos)
    else byKey.set(key, higher(byKey.get(key), qos))
  }
  const qosOf = (key: string) => {
    const ofKey = byKey.get(key)
    return ofKey === undefined || every === undefined ? (ofKey ?? every) : higher(ofKey, every)
  }
  return { qosOf, whole, errors }
}

/** Live messages are published at QoS 1 (contract §7). */
export function deliveredQoS(granted: 0 | 1 | 2): DeliveredQoS {
  return granted === 0 ? 0 : 1
}

function higher(a: DeliveredQoS | undefined, b: DeliveredQoS): DeliveredQoS {
  return a === 1 || b === 1 ? 1 : 0
}
