import type { Packet } from 'mqtt-packet'
import type { Thing } from '../helpers/http-client.ts'
import { connectMqtt, isOf, type MqttClient } from '../helpers/mqtt-client.ts'
import { Receiver, type Wanted } from './receiver.ts'

/**
 * What its client does under load. `staying`: nothing. `away`: it is not there. `restless`: it leaves and comes back.
 * `lagging`: it acknowledges late.
 */
export type Habit = 'staying' | 'away' | 'restless' | 'lagging'

/** A connection may be silent for as long as a load lasts, milliseconds. */
const silence = 600_000
/** Messages that a lagging client has not acknowledged. */
const lag = 16

/** A persistent session at QoS 1 with its client, over many lives of the server. */
export class LiveSession {
  readonly habit: Habit
  readonly receiver: Receiver
  readonly #thing: Thing
  #client: MqttClient | undefined
  #isNew = true
  /** A CONNECT that was refused may have made a session, or not. */
  #wasRefused = false
  #hasForgottenDup = false
  #leaves = 0

  constructor(habit: Habit, thing: Thing, wanted: Wanted) {
    this.habit = habit
    this.receiver = new Receiver(`${habit} session for ${wanted}`, thing.thingId, wanted)
    this.#thing = thing
  }

  /** Resolves when the connection is gone, whoever ended it. */
  get closed(): Promise<void> {
    return this.#client?.closed ?? Promise.resolve()
  }

  /** @throws Error if there is no CONNACK */
  async connect(url: string): Promise<void> {
    const { thingId, thingToken } = this.#thing
    const client = await connectMqtt({
      url,
      clientId: `${this.habit}-${this.receiver.wanted}`,
      clean: false,
      username: 'subscriber',
      password: thingToken,
      acknowledges: false,
      deadline: silence,
    })
    const { returnCode, sessionPresent } = client.connack
    if (returnCode !== 0) {
      this.#wasRefused = true
      throw new Error(`${this.receiver.name}: CONNACK ${returnCode}`)
    }
    const isWrong = sessionPresent ? this.#isNew && !this.#wasRefused : !this.#isNew
    if (isWrong) this.receiver.breach(`session present is ${sessionPresent}`)
    this.receiver.connected()
    this.#client = client
    const receiving = this.#receive(client)
    // Before SUBACK it is not known whether there is a session.
    if (this.#isNew) {
      const filter = this.receiver.wanted === 'writes' ? `v2/things/${thingId}` : `things/${thingId}/values/+`
      await client.subscribe(filter)
    }
    this.#isNew = false
    void receiving
  }

  /** Alternately with DISCONNECT and without a word. */
  async leave(): Promise<void> {
    const client = this.#client
    this.#client = undefined
    await (this.#leaves++ % 2 === 0 ? client?.disconnect() : client?.destroy())
  }

  async #receive(client: MqttClient): Promise<void> {
    const unacked: Packet[] = []
    try {
      for (;;) {
        const packet = await client.next(isOf('publish'))
        if (!packet.retain) this.#take(valueIn(packet.payload.toString()), packet.dup)
        if (packet.qos === 1) unacked.push(packet)
        while (unacked.length > (this.habit === 'lagging' ? lag : 0)) {
          client.send({ cmd: 'puback', messageId: unacked.shift()?.messageId ?? 0 })
        }
      }
    } catch {
      // The connection is gone.
    }
  }

  #take(value: string, dup: boolean): void {
    // MQTT-3.3.1-1
    if (!dup && !this.#hasForgottenDup && this.receiver.has(value)) {
      this.#hasForgottenDup = true
      this.receiver.breach(`messages came again without DUP, ${value} first`)
    }
    this.receiver.take(value)
  }
}

/** Of the record, or of the first one of an array. */
export function valueIn(text: string): string {
  const [record] = [JSON.parse(text)].flat() as { value: unknown }[]
  return String(record?.value)
}
