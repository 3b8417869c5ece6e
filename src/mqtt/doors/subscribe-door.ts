import { activationText } from '../../access/things/activation-text.ts'
import { ThingwireError } from '../../errors.ts'
import type { Connection, Judge } from '../connection/connection.ts'
import type { MqttThings } from '../mqtt-things.ts'
import { encodeAck, encodeSuback } from '../packets/encode.ts'
import { type AskedFilter, type Subscribe, types, type Unsubscribe } from '../packets/packet.ts'
import { deliveredQoS } from '../sessions/interest.ts'
import type { Sessions } from '../sessions/sessions.ts'
import { activationCodeOf, isThingwireTopic, isTopicFilter, refOfThingTopic } from '../topics.ts'
import { unlessRefused } from '../unless-refused.ts'
import { canonicalFilter, type Granted, grantFilter } from './granting.ts'
import type { Ownership } from './ownership.ts'

export interface SubscribeDoorParts {
  readonly things: Pick<MqttThings, 'access' | 'activationCodes' | 'limits'>
  readonly sessions: Sessions
  readonly ownership: Ownership
  readonly judge: Judge
}

/** In place of the granted QoS (MQTT-3.9.3-2). */
const refused = 128

/** Decides on SUBSCRIBE and UNSUBSCRIBE, and answers them. The filters of a host's client on other topics are the broker's affair. */
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
    const codes = lastOf.length === 0 ? [] : await broker.subscribe(messageId, lastOf)
    for (const [place, { topic }] of lastOf.entries()) if (codes[place] !== refused) granted.add(topic)
    const answers = subscriptions.map(({ topic, qos }) => (granted.has(topic) ? qos : refused))
    if (socket.destroyed) return
    socket.write(encodeSuback(messageId, answers))
    broker.release()
    live.sendRetained().catch((error: Error) => connection.close(error))
  }

  /** @throws ThingwireError of the store */
  async unsubscribe(connection: Connection, { messageId, unsubscriptions }: Unsubscribe): Promise<void> {
    const { things, sessions } = this.#parts
    const { session, live, socket, broker } = connection
    const ours = unsubscriptions.filter(filter => isOurs(connection, filter))
    live.unsubscribe(await Promise.all(ours.map(filter => canonicalFilter(filter, things.access))))
    if (session) await sessions.save(session)
    // The broker closes the connection at one that it takes for none: there is no subscription that could be meant.
    const others = unsubscriptions.filter(filter => !isOurs(connection, filter) && isTopicFilter(filter))
    if (others.length > 0) await broker.unsubscribe(messageId, others)
    if (socket.destroyed) return
    socket.write(encodeAck(types.unsuback, messageId))
    broker.release()
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
    { session }: Connection,
    wanted: readonly Wanted[],
  ): readonly Wanted[] {
    const { limits } = this.#parts.things
    const filters = new Set([...(session?.interests ?? [])].map(({ filter }) => filter))
    return wanted.filter(({ subscription: { filter } }) => {
      if (!filters.has(filter) && filters.size >= limits.options.subscriptionsPerConnection) {
        limits.count('too_many_subscriptions')
        return false
      }
      filters.add(filter)
      return true
    })
  }
}

/** Whether a filter is not the host's affair. */
function isOurs({ isHosts }: Connection, filter: string): boolean {
  return !isHosts || isThingwireTopic(filter)
}
