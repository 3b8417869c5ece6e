import type { Ticket } from '../../core/async/ticket.ts'
import type { WriteAnswer } from '../../core/ports.ts'
import { createdText, errorText } from '../../core/refusals/answer-texts.ts'
import { ThingwireError } from '../../errors.ts'
import type { Connection } from '../connection/connection.ts'
import type { Publish } from '../packets/packet.ts'
import { refOfAnswersTopic } from '../topics.ts'

/** The ticket of a write that also has the answer of HTTP sent to the sender, on the Response Topic, before or after the ack. */
export class AnsweredTicket implements Ticket<unknown> {
  readonly #ticket: Ticket<unknown>
  readonly #connection: Pick<Connection, 'live' | 'codec'>
  readonly #qos: Publish['qos']
  readonly #thingId: string
  readonly #topic: string
  readonly #correlationData: Buffer | undefined

  /**
   * @param refs id of the thing, and the token or id in the topic of the write: the Response Topic has one of them
   * @throws ThingwireError not_an_answer_topic
   */
  constructor(
    ticket: Ticket<unknown>,
    connection: Pick<Connection, 'live' | 'codec'>,
    { qos, properties: { responseTopic = '', correlationData } = {} }: Publish,
    refs: readonly [thingId: string, ref: string],
  ) {
    const ref = refOfAnswersTopic(responseTopic)
    if (ref === undefined || !refs.includes(ref)) throw new ThingwireError('not_an_answer_topic')
    this.#ticket = ticket
    this.#connection = connection
    this.#qos = qos
    this.#thingId = refs[0]
    this.#topic = responseTopic
    // A copy, so that the received bytes are not kept until the write is stored.
    this.#correlationData = correlationData && Buffer.from(correlationData)
  }

  resolve(answer: unknown): void {
    this.#ticket.resolve(answer)
    this.#send(createdText((answer as WriteAnswer | undefined) ?? {}))
  }

  /** A write that is not acknowledged is not answered either: the client sends it again. */
  reject(error: unknown): void {
    this.#ticket.reject(error)
    if (this.#connection.codec.acknowledges(error, this.#qos)) this.#send(errorText(error))
  }

  #send(text: string): void {
    this.#connection.live.answerWrite(this.#thingId, this.#topic, text, this.#correlationData)
  }
}
