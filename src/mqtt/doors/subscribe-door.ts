import { activationText } from '../../access/things/activation-text.ts'
import { isTopicFilter } from '../../core/topics/topic-filter.ts'
import { mayRead } from '../../core/topics/topic-grant.ts'
import { ThingwireError } from '../../errors.ts'
import type { Connection, Judge } from '../connection/connection.ts'
import type { MqttThings } from '../mqtt-things.ts'
import { encodeAck, encodeSuback } from '../packets/encode.ts'
import { type AskedFilter, type Subscribe, types, type Unsubscribe } from '../packets/packet.ts'
import type { Relay } from '../relay/relay.ts'
import type { RelayedClient } from '../relay/relayed-client.ts'
import { deliveredQoS } from '../sessions/interest.ts'
import type { Sessions } from '../sessions/sessions.ts'
import { activationCodeOf, isThingwireTopic, refOfThingTopic } from '../topics.ts'
import { unlessRefused } from '../unless-refused.ts'
import { canonicalFilter, type Granted, grantFilter } from './granting.ts'
import type { Ownership } from './ownership.ts'

export interface SubscribeDoorParts {
  readonly things: Pick<MqttThings, 'access' | 'activationCodes' | 'limits'>
  readonly sessions: Sessions
  /** Of topics beside those of things; undefined: there are none, or they are the host's. */
  readonly relay: Relay | undefined
  readonly ownership: Ownership
  readonly judge: Judge
}

/** In place of the granted QoS (MQTT-3.9.3-2). */
const refused = 128

/** Decides on SUBSCRIBE and UNSUBSCRIBE, and answers them. Filters on other topics than those of things go to the broker. */
export class SubscribeDoor {
  readonly #parts: SubscribeDoorParts

  constructor(parts: SubscribeDoorParts) {
    this.#parts = parts
  }

  /**
   * What is granted is live, and kept, before it is answered; of what is refused there is no trace.
   *
   * @throws ThingwireError of the store
   */
  async subscribe(connection: Connection, { messageId, subscriptions }: Subscribe): Promise<void> {
    const { socket, live, broker } = connection
    const granted = await this.#grant(
      connection,
      subscriptions.filter(({ topic }) => isOurs(connection, topic)),
    )
    const others = subscriptions.filter(({ topic }) => !isOurs(connection, topic) && isTopicFilter(topic))
    // A filter that is named twice is the broker's once, and answered twice (MQTT-3.8.4-5).
    const lastOf = [...new Map(others.map(asked => [asked.topic, asked])).values()]
    for (const topic of await this.#subscribeAtBroker(connection, messageId, lastOf)) granted.add(topic)
    const answers = subscriptions.map(({ topic, qos }) => (granted.has(topic) ? qos : refused))
    if (socket.destroyed) return
    socket.write(encodeSuback(messageId, answers))
    broker.release()
    live.sendRetained().catch((error: Error) => connection.close(error))
  }

  /** @returns the filters that are granted */
  async #subscribeAtBroker(
    { broker, relayed, hold, session }: Connection,
    messageId: number,
    asked: readonly AskedFilter[],
  ): Promise<readonly string[]> {
    const { relay } = this.#parts
    if (!relay || !relayed) return await granted(asked)
    const readable = asked.filter(({ topic }) => mayRead(relayed.grants, topic))
    const others = [...(session?.interests ?? [])].length
    const wanted = readable.filter(({ topic, qos }) => {
      if (!relayed.isSubscribed(topic) && !this.#hasRoom(others + relayed.subscriptions.length)) return false
      relayed.subscribe({ filter: topic, qos })
      return true
    })
    // Of what it may see at which QoS, the relay decides message by message.
    await relay.catchUp()
    const topics = await granted(wanted.map(({ topic }) => ({ topic, qos: 2 })))
    await relay.keep(relayed, relayed.subscriptions, hold)
    return topics

    async function granted(filters: readonly AskedFilter[]): Promise<readonly string[]> {
      const codes = filters.length === 0 ? [] : await broker.subscribe(messageId, filters)
      return filters.flatMap(({ topic }, place) => (codes[place] === refused ? [] : [topic]))
    }
  }

  /** @throws ThingwireError of the store */
  async unsubscribe(connection: Connection, { messageId, unsubscriptions }: Unsubscribe): Promise<void> {
    const { things, sessions } = this.#parts
    const { session, live, socket, broker, relayed } = connection
    const ours = unsubscriptions.filter(filter => isOurs(connection, filter))
    live.unsubscribe(await Promise.all(ours.map(filter => canonicalFilter(filter, things.access))))
    if (session) await sessions.save(session)
    // The broker closes the connection at one that it takes for none: there is no subscription that could be meant.
    const others = unsubscriptions.filter(filter => !isOurs(connection, filter) && isTopicFilter(filter))
    if (relayed) await this.#forget(connection, relayed, others)
    if (others.length > 0) await broker.unsubscribe(messageId, others)
    for (const filter of others) relayed?.unsubscribe(filter)
    if (socket.destroyed) return
    socket.write(encodeAck(types.unsuback, messageId))
    broker.release()
  }

  /** Nothing that is published from here on is kept for these. */
  async #forget({ hold }: Connection, relayed: RelayedClient, filters: readonly string[]): Promise<void> {
    const all = relayed.subscriptions
    const left = all.filter(({ filter }) => !filters.includes(filter))
    if (left.length < all.length) await this.#parts.relay?.keep(relayed, left, hold)
  }

  /** @returns the filters that are granted, as they are spelled */
  async #grant(connection: Connection, asked: readonly AskedFilter[]): Promise<Set<string>> {
    const { sessions, ownership } = this.#parts
    const { session, live } = connection
    const decisions = await Promise.all(asked.map(each => this.#decide(connection, each)))
    const wanted = asked.flatMap(({ topic }, place) => {
      const decision = decisions[place]
      return typeof decision === 'object' ? [{ spelled: topic, ...decision }] : []
    })
    const granted = this.#withinLimit(connection, wanted)
    const activated = asked.filter((_, place) => decisions[place] === 'activated')
    const spelled = new Set([
      ...activated.map(({ topic }) => topic),
      ...granted.map(({ spelled }) => spelled),
    ])
    if (granted.length === 0 || !session) return spelled
    for (const { spelled, thingId } of granted) {
      if (thingId === undefined) continue
      connection.spellings.set(thingId, refOfThingTopic(spelled) ?? thingId)
      await ownership.prove(connection, thingId)
    }
    const added = granted.map(({ subscription }) => subscription)
    sessions.cover(session, added)
    await live.subscribe(added)
    await sessions.save(session)
    return spelled
  }

  /** Of an activation the answer is sent on its topic, to this connection alone (contract §7); nothing of it is kept. */
  async #decide(connection: Connection, asked: AskedFilter): Promise<Granted | 'activated' | 'refused'> {
    const { access, activationCodes } = this.#parts.things
    const onUnknown = (error: ThingwireError) => void this.#parts.judge(connection, error)
    const { topic, qos } = asked
    const code = activationCodeOf(topic)
    if (code === undefined) {
      // The session of a host's client is kept by the host, and would be found again without the filter.
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

  /** Those that there is still room for; the others are refused. */
  #withinLimit<Wanted extends Granted>(
    { session, relayed }: Connection,
    wanted: readonly Wanted[],
  ): readonly Wanted[] {
    const filters = new Set([...(session?.interests ?? [])].map(({ filter }) => filter))
    return wanted.filter(({ subscription: { filter } }) => {
      if (!filters.has(filter) && !this.#hasRoom(filters.size + (relayed?.subscriptions.length ?? 0)))
        return false
      filters.add(filter)
      return true
    })
  }

  /** Whether a connection that has so many subscriptions may have one more. */
  #hasRoom(subscriptions: number): boolean {
    const { limits } = this.#parts.things
    if (subscriptions < limits.options.subscriptionsPerConnection) return true
    limits.count('too_many_subscriptions')
    return false
  }
}

/** Whether a filter is not the broker's affair. */
function isOurs({ isHosts, relayed }: Connection, filter: string): boolean {
  return !(isHosts || relayed) || isThingwireTopic(filter)
}
