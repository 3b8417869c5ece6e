import type { LiveWrite } from '../../live/index.ts'
import { parseThingFilter, type Selection, selectionOf, selectsAnswer } from '../topics.ts'

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
  /** Set if messages of writes up to `upTo` may have been sent with another identifier. */
  readonly earlier?: { readonly identifier: number; readonly upTo: number }
  /** Subscription identifier of MQTT 5: comes with each message of the subscription. */
  readonly identifier?: number
  /** Set if the client never wants retained messages, not even after it has lost live messages. */
  readonly isNeverShown?: true
  /** Whether the client's filter contained a token. */
  readonly isSpelledAsToken?: boolean
  /** The newest write number when retained messages became due to the session; absent once it has acknowledged all of them. */
  readonly owedRetained?: number
}

/**
 * Which messages of one thing a client wants: for each kind the copies, one for each subscription identifier of the matching
 * filters, in the order of the identifiers (MQTT5-3.3.4). Filters without an identifier share a copy.
 */
interface Interest {
  /** Copies of messages on `values/<key>`. */
  copiesOf(key: string): readonly WantedCopy[]
  readonly whole: readonly WantedCopy[]
  readonly errors: readonly WantedCopy[]
}

type DeliveredQoS = 0 | 1

export interface WantedCopy {
  /** Subscription identifier; 0: none. */
  readonly identifier: number
  /** The highest QoS of the filters. */
  readonly qos: DeliveredQoS
}

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
    this.#set(isOwed ? { ...added, from: before.from, ...earlierOf(before, added) } : added)
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
      const { filter, isNeverShown } = subscription
      if (selectionOf(filter).values && !isNeverShown && !except.has(filter))
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

  /** The wanted copies of an answer to a write. @param topic `things/<ref>/answers/…` */
  inAnswer(thingId: string, topic: string): readonly WantedCopy[] {
    const copies = new Copies()
    for (const { filter, qos, identifier = 0 } of this.#of(thingId))
      if (selectsAnswer(filter, topic)) copies.add({ identifier, qos: deliveredQoS(qos) })
    return copies.list
  }

  /** The interest in an earlier write, from the subscriptions at QoS 1 and 2 that existed at that time. */
  missedOf(write: LiveWrite): Interest {
    const { thingId, writeNumber } = write.commit
    const then = this.#of(thingId).filter(({ from, qos }) => from < writeNumber && qos > 0)
    return join(then.map(each => asOf(each, writeNumber)))
  }

  #of(thingId: string): readonly Subscription[] {
    return [thingId, '+'].flatMap(ref => [...(this.#byRef.get(ref)?.values() ?? [])])
  }
}

const none: readonly WantedCopy[] = []

/** The wanted copies of the message at a place of a write. */
export function wantedCopies(write: LiveWrite, place: number, interest: Interest): readonly WantedCopy[] {
  const key = write.keyAt(place)
  if (key !== undefined) return interest.copiesOf(key)
  return write.hasWhole ? interest.whole : none
}

/** Messages that are sent again keep their identifier, which is a part of their position. */
function earlierOf(before: Subscription, added: Subscription): Pick<Subscription, 'earlier'> {
  const { identifier = 0, earlier } = before
  if (earlier) return { earlier }
  return identifier === (added.identifier ?? 0) ? {} : { earlier: { identifier, upTo: added.from } }
}

function asOf(subscription: Subscription, writeNumber: number): Subscription {
  const { earlier } = subscription
  if (!earlier || writeNumber > earlier.upTo) return subscription
  return { ...subscription, identifier: earlier.identifier }
}

/** The things of a subscription: ids, or `+` for every thing. */
export function refsOf({ filter, things }: Pick<Subscription, 'filter' | 'things'>): readonly string[] {
  return things ?? [parseThingFilter(filter)?.ref ?? '']
}

function join(subscriptions: readonly Subscription[]): Interest {
  const every = new Copies()
  const whole = new Copies()
  const errors = new Copies()
  const byKey = new Map<string, Copies>()
  for (const { filter, qos: granted, identifier = 0, isReadOnly = false } of subscriptions) {
    const copy = { identifier, qos: deliveredQoS(granted) }
    const selection: Selection = selectionOf(filter)
    if (selection.whole) whole.add(copy)
    if (selection.errors && !isReadOnly) errors.add(copy)
    const key = selection.values?.key
    if (key !== undefined) byKey.set(key, (byKey.get(key) ?? new Copies()).add(copy))
    else if (selection.values) every.add(copy)
  }
  for (const copies of byKey.values()) for (const copy of every.list) copies.add(copy)
  const copiesOf = (key: string) => (byKey.get(key) ?? every).list
  return { copiesOf, whole: whole.list, errors: errors.list }
}

class Copies {
  /** In the order of the identifiers. */
  readonly list: WantedCopy[] = []

  add(copy: WantedCopy): this {
    const place = this.list.findIndex(({ identifier }) => identifier >= copy.identifier)
    const present = this.list[place]
    if (place === -1) this.list.push(copy)
    else if (present?.identifier !== copy.identifier) this.list.splice(place, 0, copy)
    else if (present.qos < copy.qos) this.list[place] = copy
    return this
  }
}

/** Live messages are published at QoS 1 at most (contract §7). */
export function deliveredQoS(granted: 0 | 1 | 2): DeliveredQoS {
  return granted === 0 ? 0 : 1
}
