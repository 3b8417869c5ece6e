import { activationText } from '../../access/things/activation-codes.ts'
import { readSlices } from '../../core/async/slices.ts'
import { hasForbiddenCharacter, isTopicFilter } from '../../core/topics/topic-filter.ts'
import { mayRead } from '../../core/topics/topic-grant.ts'
import { ThingwireError } from '../../errors.ts'
import type { Connection } from '../connection/connection.ts'
import type { FilterRefusal } from '../packets/outcomes.ts'
import type { AskedFilter, Subscribe, Unsubscribe } from '../packets/packet.ts'
import type { TopicSubscription } from '../relay/documents.ts'
import type { RelayedClient } from '../relay/relayed-client.ts'
import { deliveredQoS } from '../sessions/interest.ts'
import type { Sessions } from '../sessions/sessions.ts'
import { shownTopic } from '../shown-topic.ts'
import { activationCodeOf, isThingwireTopic, refOfThingTopic } from '../topics.ts'
import { orRefusal, unlessRefused } from '../unless-refused.ts'
import { canonicalFilter, type Granted, grantFilter } from './granting.ts'
import type { PublishDoorParts } from './publish-door.ts'
import { whyNotGranted } from './refused-topic.ts'
import { thingOf } from './rejected-connections.ts'

interface SubscribeDoorParts extends PublishDoorParts {
  readonly sessions: Sessions
}

/** Maximum number of refused filters of one SUBSCRIBE that are reported. */
const mostReported = 10

/** Number of filters between two checks of the time slice. */
const decidedAtOnce = 10

/** With this code the broker refuses a filter (MQTT-3.9.3-2). */
const refused = 128

/** Answers SUBSCRIBE and UNSUBSCRIBE. Filters for topics that are not Thingwire's are passed to the broker. */
export class SubscribeDoor {
  readonly #parts: SubscribeDoorParts

  constructor(parts: SubscribeDoorParts) {
    this.#parts = parts
  }

  /** Granted filters take effect and are stored before SUBACK; refused filters are reported. @throws ThingwireError if the store fails */
  async subscribe(connection: Connection, packet: Subscribe): Promise<void> {
    const { messageId, subscriptions, subscriptionIdentifier } = packet
    const { codec, live, broker, relayed } = connection
    const crowded = new Set<string>()
    const granted = await this.#grant(
      connection,
      subscriptions.filter(({ topic }) => isOurs(connection, topic)),
      subscriptionIdentifier,
      crowded,
    )
    const others = subscriptions.filter(({ topic }) => !isOurs(connection, topic) && isTopicFilter(topic))
    // A repeated filter is sent to the broker once, but SUBACK answers each occurrence (MQTT-3.8.4-5).
    const lastOf = [...new Map(others.map(asked => [asked.topic, asked])).values()]
    const sendRetained = lastOf.length > 0 ? relayed?.beginRetained(subscriptionIdentifier) : undefined
    const known = new Set(relayed?.subscriptions.keys())
    const shown = new Set(lastOf.filter(asked => isShown(asked, known)).map(({ topic }) => topic))
    const wanted = lastOf.map(asked => topicSubscriptionOf(asked, subscriptionIdentifier))
    const relayedTopics = await this.#subscribeAtBroker(connection, messageId, wanted, crowded)
    for (const topic of relayedTopics) granted.add(topic)
    await this.#reportRefused(
      connection,
      subscriptions.map(({ topic }) => topic).filter(topic => !granted.has(topic)),
      crowded,
    )
    const outcomes = subscriptions.map(({ topic, qos }) => {
      return { qos, refusal: granted.has(topic) ? undefined : refusalOf(topic, crowded) }
    })
    if (connection.isClosed) return
    connection.send(codec.suback(messageId, outcomes))
    broker.release()
    const shownTopics = relayedTopics.filter(topic => shown.has(topic))
    for (const sending of [live.sendRetained(), sendRetained?.(shownTopics)])
      sending?.catch((error: Error) => connection.close(error))
  }

  /** Lists refused filters under the thing, or logs them for the operator, since most clients ignore the code 128 in SUBACK. */
  async #reportRefused(
    connection: Connection,
    filters: readonly string[],
    crowded: ReadonlySet<string>,
  ): Promise<void> {
    const { things, onElsewhere } = this.#parts
    const { principal, admission, isHosts } = connection
    const thingId = thingOf(connection)
    if (thingId === undefined && !principal) return
    const reported = filters.filter(
      filter => (!isHosts || isThingwireTopic(filter)) && !isOfActivation(filter),
    )
    const byReason = new Map<string, string[]>()
    for (const filter of [...new Set(reported)].slice(0, mostReported)) {
      const why = await this.#whyRefused(connection, filter, crowded)
      byReason.set(why, [...(byReason.get(why) ?? []), shownTopic(filter, things.access.redactor)])
    }
    const client = admission?.givenClientId ? ` of the client \`${admission.givenClientId}\`` : ''
    for (const [why, refused] of byReason) {
      const text = `SUBSCRIBE${client} to ${refused.join(', ')}: ${why}`
      const error = new ThingwireError('subscription_refused', text)
      if (thingId === undefined) onElsewhere(connection, error)
      else things.ingest.noteRejected(thingId, error)
    }
  }

  async #whyRefused(connection: Connection, filter: string, crowded: ReadonlySet<string>): Promise<string> {
    const { things, relay } = this.#parts
    if (crowded.has(filter)) {
      const most = things.limits.options.subscriptionsPerConnection
      return `the connection has ${most} subscriptions, and the option subscriptionsPerConnection allows no more.`
    }
    if (!isTopicFilter(filter)) return 'not a valid topic filter.'
    const isOfRelay = relay !== undefined && !isThingwireTopic(filter)
    const refusal = isOfRelay ? await whyNotGranted(connection, 'read', filter, things.access) : undefined
    if (refusal) return refusal.why
    const ref = refOfThingTopic(filter)
    const asked = ref && things.access.authorise(ref, connection.admission?.credential, 'read')
    const denied = await orRefusal(asked)
    const why = denied instanceof ThingwireError ? ` (${denied.message})` : ''
    return `not a topic of a thing that this client may read${why}.`
  }

  /** @param crowded filters over the limit are added to this set @returns the granted filters */
  async #subscribeAtBroker(
    { broker, relayed, lock, session }: Connection,
    messageId: number,
    asked: readonly TopicSubscription[],
    crowded: Set<string>,
  ): Promise<readonly string[]> {
    const { relay } = this.#parts
    if (!relay || !relayed) return await granted(asked.map(({ filter: topic, qos }) => ({ topic, qos })))
    const readable = asked.filter(({ filter }) => mayRead(relayed.grants, filter))
    const others = session?.interests.size ?? 0
    const wanted = readable.filter(subscription => {
      const { filter } = subscription
      if (!relayed.subscriptions.has(filter) && !this.#hasRoom(others + relayed.subscriptions.size)) {
        crowded.add(filter)
        return false
      }
      relayed.subscribe(subscription)
      return true
    })
    // The broker is always asked for QoS 2. The relay lowers the QoS of each message to the granted QoS.
    await relay.catchUp()
    const topics = await granted(wanted.map(({ filter }) => ({ topic: filter, qos: 2 })))
    await relay.keep(relayed, [...relayed.subscriptions.values()], lock)
    return topics

    async function granted(filters: readonly AskedFilter[]): Promise<readonly string[]> {
      const codes = filters.length === 0 ? [] : await broker.subscribe(messageId, filters)
      return filters.flatMap(({ topic }, place) => (codes[place] === refused ? [] : [topic]))
    }
  }

  /** @throws ThingwireError if the store fails */
  async unsubscribe(connection: Connection, { messageId, unsubscriptions }: Unsubscribe): Promise<void> {
    const { things, sessions } = this.#parts
    const { session, live, codec, broker, relayed } = connection
    const ours = unsubscriptions.filter(filter => isOurs(connection, filter))
    const canonical = await Promise.all(ours.map(filter => canonicalFilter(filter, things.access)))
    const interests = new Set([...(session?.interests ?? [])].map(({ filter }) => filter))
    const existing = new Set([
      ...ours.filter((_, place) => interests.has(canonical[place] ?? '')),
      ...(relayed?.subscriptions.keys() ?? []),
    ])
    live.unsubscribe(canonical)
    if (session) await sessions.save(session, 'essential')
    // An invalid filter matches no subscription, and would make the broker close the connection.
    const others = unsubscriptions.filter(filter => !isOurs(connection, filter) && isTopicFilter(filter))
    if (relayed) await this.#forget(connection, relayed, others)
    if (others.length > 0) await broker.unsubscribe(messageId, others)
    for (const filter of others) relayed?.unsubscribe(filter)
    const existed = unsubscriptions.map(filter => existing.has(filter))
    connection.send(codec.unsuback(messageId, existed))
    broker.release()
  }

  /** Removes subscriptions from the store, so that no more messages are stored for them. */
  async #forget({ lock }: Connection, relayed: RelayedClient, filters: readonly string[]): Promise<void> {
    const all = [...relayed.subscriptions.values()]
    const gone = new Set(filters)
    const left = all.filter(({ filter }) => !gone.has(filter))
    if (left.length < all.length) await this.#parts.relay?.keep(relayed, left, lock)
  }

  /** @param crowded filters over the limit are added to this set @returns the granted filters, as the client spells them */
  async #grant(
    connection: Connection,
    asked: readonly AskedFilter[],
    identifier: number | undefined,
    crowded: Set<string>,
  ): Promise<Set<string>> {
    const { sessions, ownership } = this.#parts
    const { session, live } = connection
    const decisions: (Granted | 'activated' | 'refused')[] = []
    for (let from = 0; from < asked.length; from += decidedAtOnce) {
      await readSlices.pause()
      const some = asked.slice(from, from + decidedAtOnce)
      decisions.push(...(await Promise.all(some.map(each => this.#decide(connection, each)))))
    }
    const wanted = asked.flatMap(({ topic }, place) => {
      const decision = decisions[place]
      return typeof decision === 'object' ? [{ spelled: topic, ...decision }] : []
    })
    const granted = this.#withinLimit(connection, wanted, crowded)
    const activated = asked.filter((_, place) => decisions[place] === 'activated')
    const spelled = new Set([
      ...activated.map(({ topic }) => topic),
      ...granted.map(({ spelled }) => spelled),
    ])
    if (granted.length === 0 || !session) return spelled
    for (const { spelled, thingId } of granted) {
      if (thingId === undefined) continue
      connection.aliases.set(thingId, refOfThingTopic(spelled) ?? thingId)
      await ownership.prove(connection, thingId)
    }
    const identified = identifier === undefined ? {} : { identifier }
    const added = granted.map(({ subscription }) => ({ ...subscription, ...identified }))
    const before = new Set([...session.interests].map(({ filter }) => filter))
    const more = added.map(({ filter }) => filter).filter(filter => !before.has(filter))
    sessions.cover(session, added)
    const shown = granted.filter(({ asked, subscription }) =>
      isShown({ ...asked, topic: subscription.filter }, before),
    )
    await live.subscribe(added, new Set(shown.map(({ subscription }) => subscription.filter)))
    try {
      await sessions.save(session, more.length > 0 ? 'keep' : 'essential')
    } catch (error) {
      // Otherwise the session would be stored with these filters when the connection ends.
      live.unsubscribe(more)
      throw error
    }
    return spelled
  }

  /** An activation is answered on its topic, to this connection only. The answer is not stored (contract §7.2). */
  async #decide(connection: Connection, asked: AskedFilter): Promise<Granted | 'activated' | 'refused'> {
    const { access, activationCodes } = this.#parts.things
    const onUnknown = (error: ThingwireError) => void this.#parts.countFailure(connection, error)
    const { topic, qos } = asked
    const code = activationCodeOf(topic)
    if (code === undefined) {
      // The host keeps the client's persistent session, but does not learn of this filter: a resumed session would lack it.
      if (connection.isHosts && !connection.client.clean) return 'refused'
      return (await grantFilter(connection, asked, { access, onUnknown })) ?? 'refused'
    }
    const activation = await unlessRefused(activationCodes.activate(code))
    if (!activation) {
      onUnknown(new ThingwireError('unknown_activation_code'))
      return 'refused'
    }
    const payload = Buffer.from(activationText(activation))
    connection.live.answer({ topic, payload, qos: deliveredQoS(qos) })
    return 'activated'
  }

  /** The filters within the limit; all others are refused. */
  #withinLimit<Wanted extends Granted & { readonly spelled: string }>(
    { session, relayed }: Connection,
    wanted: readonly Wanted[],
    crowded: Set<string>,
  ): readonly Wanted[] {
    const filters = new Set([...(session?.interests ?? [])].map(({ filter }) => filter))
    return wanted.filter(({ spelled, subscription: { filter } }) => {
      if (!filters.has(filter) && !this.#hasRoom(filters.size + (relayed?.subscriptions.size ?? 0))) {
        crowded.add(spelled)
        return false
      }
      filters.add(filter)
      return true
    })
  }

  /** Whether a connection with this many subscriptions may have one more. */
  #hasRoom(subscriptions: number): boolean {
    const { limits } = this.#parts.things
    if (subscriptions < limits.options.subscriptionsPerConnection) return true
    limits.count('too_many_subscriptions')
    return false
  }
}

/** Whether Thingwire answers a filter without the broker. */
function isOurs({ isHosts, relayed }: Connection, filter: string): boolean {
  return !(isHosts || relayed) || isThingwireTopic(filter)
}

function topicSubscriptionOf(
  { topic, qos, noLocal, retainAsPublished }: AskedFilter,
  identifier: number | undefined,
): TopicSubscription {
  return {
    filter: topic,
    qos,
    ...(identifier !== undefined && { identifier }),
    ...(noLocal && { isNoLocal: true }),
    ...(retainAsPublished && { isRetainAsPublished: true }),
  }
}

/** Whether the retained messages of a filter are sent (MQTT5-3.8.3.1). @param known filters that the client already has */
function isShown({ topic, retainHandling = 0 }: AskedFilter, known: ReadonlySet<string>): boolean {
  return retainHandling === 0 || (retainHandling === 1 && !known.has(topic))
}

function refusalOf(filter: string, crowded: ReadonlySet<string>): FilterRefusal {
  if (crowded.has(filter)) return 'too_many'
  if (isOfActivation(filter)) return 'unknown_code'
  if (filter.startsWith('$share/')) return 'shared'
  return isTopicFilter(filter) && !hasForbiddenCharacter(filter) ? 'not_granted' : 'not_a_filter'
}

/** Whether the filter contains an activation code. The code is secret, so the filter is not reported; a wrong code is counted. */
function isOfActivation(filter: string): boolean {
  return filter.startsWith('v2/activations/')
}
