import type { LiveWrite } from '../../live/index.ts'
import { parseThingFilter, type Selection, selectionOf } from '../topics.ts'

export interface Subscription {
  /** The filter with the id of the thing, never a token; `+` stands for every thing that the client may see. */
  readonly filter: string
  /** Ids of the things that `+` stands for; absent if it stands for every thing. */
  readonly things?: readonly string[]
  /** Whether the client may see only records, and not refused writes. */
  readonly isReadOnly?: boolean
  /** The granted QoS. Messages are delivered at QoS 1 at most. */
  readonly qos: 0 | 1 | 2
  /** The subscription gets only writes after this write number. */
  readonly from: number
  /** Whether the client's filter contained a token. */
  readonly isSpelledAsToken?: boolean
  /** The newest write number when retained messages became due to the session; absent once it has acknowledged all of them. */
  readonly owedRetained?: number
}

/** Which messages of one thing a client wants: for each kind, the highest QoS of the matching filters. */
interface Interest {
  /** QoS of messages on `values/<key>`; undefined if they are not wanted. */
  qosOf(key: string): 0 | 1 | undefined
  readonly whole: 0 | 1 | undefined
  readonly errors: 0 | 1 | undefined
}

type DeliveredQoS = 0 | 1

export class Interests {
  readonly #subscriptions = new Map<string, Subscription>()
  /** Subscriptions by thing id, or `+` for every thing, and then by filter. */
  readonly #byRef = new Map<string, Map<string, Subscription>>()
  /** Cache of interests by thing id, or `+` for every thing. */
  readonly #known = new Map<string, Interest>()

  constructor(subscriptions: Iterable<Subscription> = []) {
    for (const subscription of subscriptions) this.add(subscription)
  }

  get size(): number {
    return this.#subscriptions.size
  }

  /** Ids of the things that filters name. */
  *things(): Generator<string> {
    for (const ref of this.#byRef.keys()) if (ref !== '+') yield ref
  }

  get ofEveryThing(): boolean {
    return this.#byRef.has('+')
  }

  covers(thingId: string): boolean {
    return this.#byRef.has(thingId) || this.ofEveryThing
  }

  /** The subscriptions, in the order in which they were made. */
  [Symbol.iterator](): Iterator<Subscription> {
    return this.#subscriptions.values()
  }

  /** Replaces a subscription with the same filter. Missed messages of the old subscription are still owed (MQTT-3.8.4-3). */
  add(added: Subscription): void {
    const before = this.#subscriptions.get(added.filter)
    const isOwed = before !== undefined && before.qos > 0 && before.from < added.from
    this.delete(added.filter)
    this.#set(isOwed ? { ...added, from: before.from } : added)
  }

  /**
   * Call this when the client has lost messages permanently. From then on, it is owed retained messages.
   *
   * @param except filters for which the client already got the retained messages
   * @returns the subscriptions that are owed retained messages
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

  /** Call this when the client has acknowledged all retained messages that became due at `writeNumber`. */
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

  /** A filter that is already present keeps its place in the order. */
  #set(subscription: Subscription): void {
    const { filter } = subscription
    this.#subscriptions.set(filter, subscription)
    for (const ref of refsOf(subscription)) {
      const ofRef = this.#byRef.get(ref) ?? new Map<string, Subscription>()
      this.#byRef.set(ref, ofRef.set(filter, subscription))
    }
    this.#known.clear()
  }

  /** The current interest in a thing. */
  in(thingId: string): Interest {
    // Things without a separate filter share one entry, so a subscriber to every thing does not need one entry per thing.
    const ref = this.#byRef.has(thingId) ? thingId : '+'
    const known = this.#known.get(ref)
    if (known) return known
    const interest = join(this.#of(thingId))
    this.#known.set(ref, interest)
    return interest
  }

  /** The interest in an earlier write, from the subscriptions at QoS 1 and 2 that existed at that time. */
  missedOf(write: LiveWrite): Interest {
    const { thingId, writeNumber } = write.commit
    const then = this.#of(thingId).filter(({ from, qos }) => from < writeNumber && qos > 0)
    return join(then)
  }

  #of(thingId: string): readonly Subscription[] {
    return [thingId, '+'].flatMap(ref => [...(this.#byRef.get(ref)?.values() ?? [])])
  }
}

/** QoS of the message at a place of a write; undefined if the message is not wanted. */
export function wantedQoS(write: LiveWrite, place: number, interest: Interest): DeliveredQoS | undefined {
  const key = write.keyAt(place)
  if (key !== undefined) return interest.qosOf(key)
  return write.hasWhole ? interest.whole : undefined
}

/** The things of a subscription: ids, or `+` for every thing. */
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

/** Live messages are published at QoS 1 at most (contract §7). */
export function deliveredQoS(granted: 0 | 1 | 2): DeliveredQoS {
  return granted === 0 ? 0 : 1
}

function higher(a: DeliveredQoS | undefined, b: DeliveredQoS): DeliveredQoS {
  return a === 1 || b === 1 ? 1 : 0
}
