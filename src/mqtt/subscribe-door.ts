import type { Client, SubscribePacket } from 'aedes'
import { ThingwireError } from '../errors.ts'
import { activate } from './activations.ts'
import type { Connection } from './connection.ts'
import type { Sessions } from './sessions.ts'
import { canonicalFilter, type Granted, grantFilter } from './subscriptions.ts'
import type { MqttThings } from './things.ts'
import { activationCodeOf, refOfThingTopic } from './topics.ts'
import { unlessRefused } from './unless-refused.ts'

export interface SubscribeDoorParts {
  readonly things: Pick<MqttThings, 'access' | 'activationCodes' | 'limits'>
  readonly sessions: Sessions
  readonly addressOf: (client: Client) => string
  /** The client may act for this thing. @throws ThingwireError of the store */
  readonly onProven: (connection: Connection, thingId: string) => Promise<void> | undefined
}

type Asked = SubscribePacket['subscriptions'][number]

/** Decides on SUBSCRIBE and UNSUBSCRIBE before Aedes, which only answers them. */
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
  async subscribe(connection: Connection, { subscriptions }: SubscribePacket): Promise<void> {
    const { sessions, onProven } = this.#parts
    const { session, live } = connection
    const answers = await Promise.all(subscriptions.map(asked => this.#decide(connection, asked)))
    const wanted = subscriptions.flatMap(({ topic }, place) => {
      const answer = answers[place]
      return typeof answer === 'object' ? [{ spelled: topic, ...answer }] : []
    })
    const granted = this.#withinLimit(connection, wanted)
    const activated = subscriptions.filter((_, place) => answers[place] === 'activated')
    connection.granted = new Map([
      ...activated.map(({ topic }) => [topic, topic] as const),
      ...granted.map(({ spelled, subscription }) => [spelled, subscription.filter] as const),
    ])
    if (granted.length === 0 || !session) return
    for (const { spelled, thingId } of granted) {
      if (thingId === undefined) continue
      connection.spellings.set(thingId, refOfThingTopic(spelled) ?? thingId)
      await onProven(connection, thingId)
    }
    const added = granted.map(({ subscription }) => subscription)
    sessions.cover(session, added)
    await live.subscribe(added)
    await sessions.save(session)
  }

  /** @throws ThingwireError of the store */
  async unsubscribe(connection: Connection, packet: { unsubscriptions: string[] }): Promise<void> {
    const { things, sessions } = this.#parts
    const { session, live } = connection
    packet.unsubscriptions = await Promise.all(
      packet.unsubscriptions.map(filter => canonicalFilter(filter, things.access)),
    )
    live.unsubscribe(packet.unsubscriptions)
    if (session) await sessions.save(session)
  }

  async #decide(connection: Connection, asked: Asked): Promise<Granted | 'activated' | 'refused'> {
    const { access, activationCodes, limits } = this.#parts.things
    const onUnknown = (error: ThingwireError) => {
      limits.judge(error, this.#parts.addressOf(connection.client))
    }
    if (activationCodeOf(asked.topic) === undefined) {
      return (await grantFilter(connection, asked, { access, onUnknown })) ?? 'refused'
    }
    const isActivated = await unlessRefused(activate(connection, asked, activationCodes))
    if (isActivated) return 'activated'
    onUnknown(new ThingwireError('unknown_activation_code'))
    return 'refused'
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
