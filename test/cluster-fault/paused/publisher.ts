import type { QoS } from 'mqtt-packet'
import type { Thing } from '../../helpers/http-client.ts'
import { isOf, type MqttClient, publishPacket } from '../../helpers/mqtt-client.ts'
import { untilDone } from '../participant.ts'
import { PauseClient } from './pause-client.ts'
import { checkViews, type ResourceViews } from './resource-views.ts'
import type { Copies } from './sent-writes.ts'

/** Milliseconds for a QoS 0 write to be told. */
const toldWithin = 10_000

/** What is written, and how it has to be seen. */
export interface Resource {
  readonly body: (number: number) => object
  /** What is wrong, in words. */
  readonly check: (views: Omit<ResourceViews, 'key'>) => Promise<readonly string[]>
}

export const ordinary: Resource = {
  body: number => ({ values: [{ key: 'v', value: number }] }),
  check: views => checkViews({ ...views, key: 'v' }),
}

export interface PublisherSetup {
  readonly name?: string
  readonly qos: QoS
  readonly session: 'clean' | 'persistent' | 'anonymous'
  /** Waits for the paused node. */
  readonly stays?: true
  /** Has nothing under way when its node is paused. */
  readonly isIdle?: true
  readonly resource?: Resource
}

/** Writes 1, 2, 3, … under packet ids of their own; one is under way when its node is paused, one unread. */
export class Publisher extends PauseClient {
  readonly name: string
  readonly #setup: PublisherSetup
  /** Sent and not finished. */
  readonly #waiting = new Set<number>()
  #unread = 0
  #number = 0

  constructor(setup: PublisherSetup) {
    super()
    const { qos, session, stays, isIdle, name = `QoS ${qos}, ${session}` } = setup
    this.#setup = setup
    this.name = `${name}${stays ? ', stays' : ''}${isIdle ? ', idle' : ''}`
  }

  protected optionsOf({ thingToken }: Thing) {
    const { session } = this.#setup
    const credential = session === 'anonymous' ? {} : { username: 'device', password: thingToken }
    return { clientId: this.name, clean: session !== 'persistent', ...credential }
  }

  protected async start({ connection }: PauseClient['begun']): Promise<void> {
    await connection.begin()
    for (let count = 0; count < 2; count++) await this.#publish()
  }

  override sendInFlight(): void {
    if (!this.#setup.isIdle) this.#send()
  }

  sendWhilePaused(): void {
    this.#unread = this.#send()
  }

  async move(): Promise<void> {
    const { qos, session, stays } = this.#setup
    if (stays) return
    const { connection } = this.begun
    const before = connection.client
    await connection.move()
    // Whose an anonymous connection is, is known when it has used its token (contract §4.2).
    if (session !== 'anonymous') connection.takenOver()
    await this.#finish(before)
    await this.#publish()
    if (session === 'anonymous') connection.takenOver()
    if (connection.isTakenOver) this.sent.allow(String(this.#unread), qos === 0 ? 'never' : 'once')
    await this.#publish()
  }

  async check(): Promise<readonly string[]> {
    const { round, connection } = this.begun
    if (this.#setup.stays) await this.#stay()
    const first = this.#setup.stays
      ? []
      : await connection.checkFirst(`puback ${this.#unread}`, `pubrec ${this.#unread}`)
    await this.#publish()
    await connection.connect(round.pausing)
    await this.#publish()
    const { check } = this.#setup.resource ?? ordinary
    return [...first, ...(await check(this.views))]
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
    const { qos, session, resource = ordinary } = this.#setup
    const { thing, connection } = this.begun
    const ref = session === 'anonymous' ? thing.thingToken : thing.thingId
    const options = { qos, dup, messageId: number }
    connection.client.send(publishPacket(`things/${ref}/write`, resource.body(number), options))
  }

  /** Resolves when it is finished; at QoS 0 when it is told. */
  async #publish(): Promise<void> {
    const number = this.#send()
    if (this.#setup.qos > 0) await this.#settle(number)
    else await this.begun.told.until('v', number, toldWithin)
  }

  async #settle(number: number): Promise<void> {
    const { client } = this.begun.connection
    await client.next(isOf(this.#setup.qos === 1 ? 'puback' : 'pubrec', number))
    this.sent.acked(String(number))
    if (this.#setup.qos === 2) await client.release(number)
    this.#waiting.delete(number)
  }

  /** What the connection before this one has not finished. */
  async #finish(before: MqttClient): Promise<void> {
    const { client } = this.begun.connection
    const isPersistent = this.#setup.session === 'persistent'
    const acks = before.acknowledgements
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
    const { connection, round } = this.begun
    const first = connection.client
    try {
      for (const number of [...this.#waiting]) await this.#settle(number)
    } catch {
      await untilDone(async () => {
        await connection.connect(round.other)
        await this.#finish(first)
      })
    }
  }
}
