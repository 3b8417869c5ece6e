import { activationText } from '../../access/things/activation-text.ts'
import type { Connection } from '../connection/connection.ts'
import type { MqttThings } from '../mqtt-things.ts'
import { deliveredQoS } from '../sessions/interest.ts'
import { activationCodeOf } from '../topics.ts'

/**
 * Activation by a SUBSCRIBE to `v2/activations/<code>/<any>` (contract §7): the answer is sent on that topic, to that
 * connection alone, behind SUBACK. Nothing of the subscription is kept.
 *
 * @returns undefined if the topic is no such one
 * @throws ThingwireError unknown_activation_code; of the store
 */
export async function activate(
  { live }: Connection,
  { topic, qos }: { readonly topic: string; readonly qos: 0 | 1 | 2 },
  activationCodes: MqttThings['activationCodes'],
): Promise<true | undefined> {
  const code = activationCodeOf(topic)
  if (code === undefined) return undefined
  const payload = Buffer.from(activationText(await activationCodes.activate(code)))
  live.answer({ topic, payload, qos: deliveredQoS(qos) })
  return true
}
