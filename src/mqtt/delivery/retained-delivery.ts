import { FairQueue } from '../../core/async/fair-queue.ts'
import type { LatestOfThing, LatestQuery, Snapshot } from '../../core/ports.ts'
import type { ReceiptClock } from '../../core/time/clock.ts'
import { serverTimeText } from '../../core/time/server-time.ts'
import { type Slot, valuePayload } from '../../live/index.ts'
import {
  deliveredQoS,
  type Interests,
  refsOf,
  type Subscription,
  type WantedCopy,
} from '../sessions/interest.ts'
import { dateTopic, limitsTopic, parseThingFilter, selectionOf, valuesTopic } from '../topics.ts'
import type { AckedParts, Outgoing, Receiver } from './outgoing.ts'

/** Limits concurrent reads of all clients: 50 clients with 90 things each need 4,500 views, and writes use the same thread pool. */
const views = new FairQueue(3)

interface RetainedDeliveryParts {
  readonly receiver: Pick<Receiver, 'reader' | 'maySee'>
  /** Contains the writes whose live messages come before `gap`. Closed by this class. */
  readonly snapshot: Snapshot
  readonly gap: Slot<Outgoing>
  readonly subscriptions: readonly Subscription[]
  readonly interests: Interests
  readonly clock: ReceiptClock
  /** The limit to announce to the client, bytes. */
  readonly maxPacketSize: number
}

/** The retained messages of one SUBSCRIBE, owed to the session until all are acknowledged. */
export class RetainedDelivery implements AckedParts {
  readonly #parts: RetainedDeliveryParts
  readonly #unacked = new Set<number>()
  #isSent = false

  constructor(parts: RetainedDeliveryParts) {
    this.#parts = parts
  }

  /** Call this once, after SUBACK. @throws ThingwireError if the store fails */
  async send(): Promise<void> {
    const { receiver, snapshot, gap, subscriptions, clock, maxPacketSize } = this.#parts
    const maySee = (thingId: string) => receiver.maySee(thingId)
    try {
      this.#pushOnce('limits', limitsTopic, () => JSON.stringify({ maxPacketSize, meta: true }))
      // The date is pushed after the limits: a forwarder begins to write when it gets the date, and must know the limits by then.
      this.#pushOnce('date', dateTopic, () => serverTimeText(clock.now(), 'UTC'))
      for await (const page of views.stream(receiver.reader, retainedView(snapshot, subscriptions, maySee))) {
        for (const { latest, qos, identifier } of page) {
          const { thingId, key, record } = latest
          const topic = (ref: string) => valuesTopic(ref, key)
          gap.push({ thingId, topic, payload: valuePayload(record), qos, identifier, retained: this })
        }
        if (!(await gap.whenTaken())) return
      }
    } finally {
      await snapshot.close()
      gap.close()
    }
    this.#isSent = true
    this.#settle()
  }

  sent(messageId: number): void {
    this.#unacked.add(messageId)
  }

  acked(messageId: number): void {
    this.#unacked.delete(messageId)
    this.#settle()
  }

  /** Closes the snapshot. Call this if `send` will not be called. */
  async drop(): Promise<void> {
    await this.#parts.snapshot.close()
  }

  #settle(): void {
    const { interests, subscriptions } = this.#parts
    if (!this.#isSent || this.#unacked.size > 0) return
    for (const { filter, owedRetained } of subscriptions) {
      if (owedRetained !== undefined) interests.settleRetained(filter, owedRetained)
    }
  }

  /** Pushes one message for each thing that a filter names. */
  #pushOnce(name: 'date' | 'limits', topic: (ref: string) => string, text: () => string): void {
    const { gap, subscriptions } = this.#parts
    const once = new Map<string, WantedCopy & { readonly thingId: string }>()
    for (const { filter, qos: granted, identifier = 0 } of subscriptions) {
      const thingId = parseThingFilter(filter)?.ref
      if (thingId === undefined || thingId === '+' || !selectionOf(filter)[name]) continue
      const place = `${thingId} ${identifier}`
      const qos = once.get(place)?.qos === 1 ? 1 : deliveredQoS(granted)
      once.set(place, { thingId, identifier, qos })
    }
    for (const copy of once.values())
      gap.push({ ...copy, topic, payload: Buffer.from(text()), retained: this })
  }
}

interface RetainedItem extends WantedCopy {
  readonly latest: LatestOfThing
}

/**
 * The latest records that the filters select in a snapshot (contract §7.5), page by page. A record that several filters select is
 * returned once for each subscription identifier, with the higher QoS.
 *
 * @param maySee called with each thing that a filter for every thing selects
 */
async function* retainedView(
  snapshot: Snapshot,
  subscriptions: readonly Subscription[],
  maySee: (thingId: string) => Promise<boolean>,
): AsyncGenerator<readonly RetainedItem[]> {
  // QoS 1 comes first, so a record selected at QoS 0 and 1 is sent at QoS 1.
  const wanted = subscriptions
    .flatMap(subscription => {
      const qos = deliveredQoS(subscription.qos)
      const { identifier = 0 } = subscription
      return queriesOf(subscription).map(query => ({ query, qos, identifier }))
    })
    .sort((a, b) => b.qos - a.qos)
  const seen = wanted.length > 1 ? new Set<string>() : undefined
  for (const { query, qos, identifier } of wanted) {
    for await (const page of snapshot.latest(query)) {
      const seeable = query.thingId === undefined ? await seeableOf(page, maySee) : page
      const fresh = seen ? seeable.filter(latest => isFirst(latest, identifier, seen)) : seeable
      yield fresh.map(latest => ({ latest, qos, identifier }))
    }
  }
}

function queriesOf(subscription: Subscription): readonly LatestQuery[] {
  const { values } = selectionOf(subscription.filter)
  if (!values) return []
  return refsOf(subscription).map(ref => (ref === '+' ? values : { ...values, thingId: ref }))
}

async function seeableOf(
  page: readonly LatestOfThing[],
  maySee: (thingId: string) => Promise<boolean>,
): Promise<readonly LatestOfThing[]> {
  const may = await Promise.all(page.map(({ thingId }) => maySee(thingId)))
  return page.filter((_, index) => may[index])
}

function isFirst({ thingId, key }: LatestOfThing, identifier: number, seen: Set<string>): boolean {
  const name = `${thingId} ${key} ${identifier}`
  if (seen.has(name)) return false
  seen.add(name)
  return true
}
