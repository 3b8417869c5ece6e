import type { LatestOfThing, LatestQuery, Snapshot } from '../../core/ports.ts'
import { deliveredQoS, refsOf, type Subscription } from '../sessions/interest.ts'
import { selectionOf } from '../topics.ts'

/** What is latest of one resource, at the QoS at which it is to be delivered. */
export interface RetainedItem {
  readonly latest: LatestOfThing
  readonly qos: 0 | 1
}

/**
 * What filters select of the store as it was at a snapshot (contract §7, retained view), a page at a time. What
 * several of them select is there once, at the higher QoS.
 *
 * @param maySee asked about each thing that a filter of every thing selects
 */
export async function* retainedView(
  snapshot: Snapshot,
  subscriptions: readonly Subscription[],
  maySee: (thingId: string) => Promise<boolean>,
): AsyncGenerator<readonly RetainedItem[]> {
  // Those at QoS 1 first: what they have selected is not wanted again at QoS 0.
  const wanted = subscriptions
    .flatMap(subscription => {
      const qos = deliveredQoS(subscription.qos)
      return queriesOf(subscription).map(query => ({ query, qos }))
    })
    .sort((a, b) => b.qos - a.qos)
  const seen = wanted.length > 1 ? new Set<string>() : undefined
  for (const { query, qos } of wanted) {
    for await (const page of snapshot.latest(query)) {
      const seeable = query.thingId === undefined ? await seeableOf(page, maySee) : page
      const fresh = seen ? seeable.filter(latest => isFirst(latest, seen)) : seeable
      yield fresh.map(latest => ({ latest, qos }))
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

function isFirst({ thingId, key }: LatestOfThing, seen: Set<string>): boolean {
  const name = `${thingId} ${key}`
  if (seen.has(name)) return false
  seen.add(name)
  return true
}
