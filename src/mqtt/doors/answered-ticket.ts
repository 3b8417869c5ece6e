import type { Ticket } from '../../core/async/ticket.ts'
import type { WriteAnswer } from '../../core/ports.ts'
import { createdText, errorText } from '../../core/refusals/answer-texts.ts'
import { ThingwireError } from '../../errors.ts'
import type { Connection } from '../connection/connection.ts'
import type { Publish } from '../packets/packet.ts'
import { refOfAnswersTopic } from '../topics.ts'

/**
 * The ticket of a write that also has the answer of HTTP sent to the sender, on the Response Topic, before or after the ack. A write
 * that closes the connection is not answered: the client sends it again.
 *
 * @param refs id of the thing, and the token or id in the topic of the write: the Response Topic has one of them
 * @throws ThingwireError not_an_answer_topic
 */
export function answeredTicket(
  ticket: Ticket<unknown>,
  { live, codec }: Pick<Connection, 'live' | 'codec'>,
  { qos, properties: { responseTopic = '', correlationData } = {} }: Publish,
  refs: readonly [thingId: string, ref: string],
): Ticket<unknown> {
  const ref = refOfAnswersTopic(responseTopic)
  if (ref === undefined || !refs.includes(ref)) throw new ThingwireError('not_an_answer_topic')
  // A copy, so that the received bytes are not kept until the write is stored.
  const copied = correlationData && Buffer.from(correlationData)
  const send = (text: string) => live.answerWrite(refs[0], responseTopic, text, copied)
  return {
    resolve: answer => {
      ticket.resolve(answer)
      send(createdText((answer as WriteAnswer | undefined) ?? {}))
    },
    reject: error => {
      ticket.reject(error)
      if (codec.acknowledges(error, qos)) send(errorText(error))
    },
  }
}
