import type { QoS } from 'mqtt-packet'
import { isOf, type MqttClient, publishPacket } from '../../helpers/mqtt-client.ts'
import { untilDone } from '../../rig/participant.ts'
import { wayIn, wayLetters } from '../../rig/writes.ts'
import { PauseClient, type Place, type Session, type Steps } from './pause-client.ts'
import { type Copies, checkMagic, checkValues } from './views.ts'

/** Milliseconds for a QoS 0 write to be delivered. */
const deliveredWithin = 10_000

export interface PublisherSetup {
  readonly qos: QoS
  readonly session: Session
  /** Waits for the paused node. */
  readonly stays?: true
  /** Has nothing under way when its node is paused. */
  readonly isIdle?: true
  /** Writes that are applied; default: those of a resource `v`. */
  readonly isMagic?: true
}

/** Writes 1, 2, 3, … under packet ids of their own; one is under way when its node is paused, one unread. */
export class Publisher extends PauseClient {
  readonly #setup: PublisherSetup
  /** Sent and not finished. */
  readonly #waiting = new Set<number>()
  #number = 0

  constructor(place: Place, setup: PublisherSetup) {
    const { qos, session, stays, isIdle, isMagic } = setup
    const name = isMagic ? 'magic' : `QoS ${qos}, ${session}`
    super(place, `${name}${stays ? ', stays' : ''}${isIdle ? ', idle' : ''}`, session)
    this.#setup = setup
  }

  async *steps(): Steps {
    const { stays, isIdle, isMagic } = this.#setup
    await this.begin()
    for (let count = 0; count < 2; count++) await this.#publish()
    yield
    if (!isIdle) this.#send()
    yield
    const unread = this.#send()
    yield
    if (!stays) await this.#move(String(unread))
    yield
    if (stays) await this.#stay()
    const first = stays ? [] : await this.checkFirst(`puback ${unread}`, `pubrec ${unread}`)
    await this.#publish()
    await this.connect(this.round.pausing)
    await this.#publish()
    return [...first, ...(await (isMagic ? checkMagic(this) : checkValues(this, 'v')))]
  }

  async #move(unread: string): Promise<void> {
    const { qos, session } = this.#setup
    const before = this.client
    await this.move()
    // Whose an anonymous connection is, is known when it has used its token (contract §4.2).
    if (session !== 'anonymous') this.takenOver()
    await this.#finish(before)
    await this.#publish()
    if (session === 'anonymous') this.takenOver()
    if (this.isTakenOver) this.sent.allow(unread, qos === 0 ? 'never' : 'once')
    await this.#publish()
  }

  /** Of a write that is sent again if its ack is lost. */
  get #copies(): Copies {
    const { qos, session } = this.#setup
    if (qos === 0) return 'at most once'
    return qos === 2 && session === 'persistent' ? 'once' : 'at least once'
  }

  #send(): number {
    const number = ++this.#number
    this.sent.send(String(number), this.#copies)
    if (this.#setup.qos > 0) this.#waiting.add(number)
    this.#sendPacket(number, false)
    return number
  }

  #sendPacket(number: number, dup: boolean): void {
    const { qos, session, isMagic } = this.#setup
    const ref = session === 'anonymous' ? this.thing.thingToken : this.thing.thingId
    const magic = [
      { key: '$settings.n', value: number },
      { key: '$count', value: `n1-${wayLetters[wayIn(this.version, 2)]}-0-${number}-0` },
    ]
    const values = isMagic ? magic : [{ key: 'v', value: number }]
    const { topic, ...properties } = this.form.of(`things/${ref}/write`, { body: { values } })
    this.client.send(publishPacket(topic, { values }, { qos, dup, messageId: number, ...properties }))
  }

  /** Resolves when it is finished; at QoS 0 when it is delivered. */
  async #publish(): Promise<void> {
    const number = this.#send()
    if (this.#setup.qos > 0) await this.#settle(number)
    else await this.live.until('v', number, deliveredWithin)
  }

  async #settle(number: number): Promise<void> {
    const { client } = this
    await client.next(isOf(this.#setup.qos === 1 ? 'puback' : 'pubrec', number))
    this.sent.acked(String(number))
    if (this.#setup.qos === 2) await client.release(number)
    this.#waiting.delete(number)
  }

  /** Whatever the connection before this one has not finished. */
  async #finish({ acknowledgements: acks }: MqttClient): Promise<void> {
    const { client } = this
    const isPersistent = this.#setup.session === 'persistent'
    for (const number of this.#waiting) {
      if (!acks.includes(`puback ${number}`) && !acks.includes(`pubrec ${number}`)) continue
      this.sent.acked(String(number))
      // Of a session that is gone there is nothing to release.
      if (this.#setup.qos === 2 && isPersistent) await client.release(number)
      this.#waiting.delete(number)
    }
    const again = [...this.#waiting]
    for (const number of again) this.#sendPacket(number, isPersistent)
    for (const number of again) await this.#settle(number)
  }

  /** Sends again what the node that was paused has closed the connection on. */
  async #stay(): Promise<void> {
    const { round } = this
    const first = this.client
    try {
      for (const number of [...this.#waiting]) await this.#settle(number)
    } catch {
      await untilDone(async () => {
        await this.connect(round.other)
        await this.#finish(first)
      })
    }
  }
}
