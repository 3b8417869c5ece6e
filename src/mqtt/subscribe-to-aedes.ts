import type { Client, SubscribePacket, Subscription } from 'aedes'
import { suback } from './acks.ts'
import { isTopicFilter } from './topics.ts'

/** In place of the granted QoS (MQTT-3.9.3-2). */
const refused = 128

/** To be called of each subscription that is not granted, before Aedes is told so. */
export function markRefused(subscription: Subscription): void {
  Object.assign(subscription, { qos: refused })
}

/**
 * Hands a SUBSCRIBE to Aedes and answers it. Aedes would answer a filter that is named twice only once, against
 * MQTT-3.8.4-5, and close the connection at one that it takes for none.
 *
 * @param done called when it is answered
 */
export function subscribeToAedes(client: Client, packet: SubscribePacket, done: () => void): void {
  const { messageId = 0, subscriptions } = packet
  const lastOf = new Map(subscriptions.map(subscription => [subscription.topic, subscription]))
  // Aedes goes on with these very objects, and changes them.
  const answers = subscriptions.map(({ topic, qos }) => ({ last: lastOf.get(topic), qos }))
  const filters = [...lastOf.values()].filter(subscription => {
    const isFilter = isTopicFilter(subscription.topic)
    if (!isFilter) markRefused(subscription)
    return isFilter
  })
  // Without a packet id it is one of the broker's own, and not answered.
  client.subscribe({ cmd: 'subscribe', subscriptions: filters } as SubscribePacket, error => {
    if (error) {
      client.emit('error', error)
      return
    }
    const codes = answers.map(({ last, qos }) => (Number(last?.qos) === refused ? refused : qos))
    const { conn } = client
    if (!conn.destroyed && !conn.writableEnded) conn.write(suback(messageId, codes))
    // Not before Aedes has told who waits for it that the client has subscribed.
    setImmediate(done)
  })
}
