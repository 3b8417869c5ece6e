import { setTimeout as delay } from 'node:timers/promises'
import type { QoS } from 'mqtt-packet'
import { HttpConnection } from '../helpers/http-connection.ts'
import type { MqttClient } from '../helpers/mqtt-client.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import type { ThingLedger } from './ledger.ts'
import { openLink } from './mqtt-link.ts'
import { type Habits, type PlannedWrite, planWrite } from './planned-write.ts'
import { between, chance, pick } from './random.ts'
import type { Timing } from './timing.ts'

export interface WriterSetup {
  readonly nodes: readonly ServerProcess[]
  readonly thing: ThingLedger
  readonly habits: (place: number) => Habits
  /** What all writers note. */
  readonly run: { readonly acks: Timing; readonly refusals: string[]; writes: number }
}

/** Milliseconds. */
const tick = 5
/** Unacked writes of a thing that does not wait for its acks. */
const window = 32

/** Writes to one thing. */
export class Writer {
  readonly #setup: WriterSetup
  /** To one node; of a thing that waits for its acks, to all. */
  readonly #links: readonly MqttClient[]
  readonly #http: readonly HttpConnection[]
  readonly #waits: boolean
  #unacked = 0
  #sent = 0

  private constructor(setup: WriterSetup, links: readonly MqttClient[], waits: boolean) {
    this.#setup = setup
    this.#links = links
    this.#waits = waits
    this.#http = waits ? setup.nodes.map(({ url }) => new HttpConnection(url)) : []
  }

  static async open(setup: WriterSetup): Promise<Writer> {
    const { nodes, thing } = setup
    const { thingToken: password } = thing.thing
    const waits = thing.place % 10 < 3
    const opening = (waits ? nodes : [pick(nodes)]).map(({ mqttUrl: url }, index) =>
      openLink({ url, clientId: `writer ${index}`, password }),
    )
    return new Writer(setup, await Promise.all(opening), waits)
  }

  /** @returns how many records it sent, at most `limit`; 0 if it is busy, or has sent `most` in all */
  write(limit: number, most: number): number {
    if (this.#unacked >= (this.#waits ? 1 : window) || this.#sent >= most) return 0
    const count = this.#write(limit)
    this.#sent += count
    return count
  }

  /** Waits until everything is committed. */
  async close(): Promise<void> {
    while (this.#unacked > 0) await delay(tick)
    for (const link of this.#links) {
      await link.ping().catch(() => this.#refused('connection lost'))
      await link.disconnect()
    }
    for (const connection of this.#http) connection.close()
  }

  #write(limit: number): number {
    const write = this.#plan(limit)
    const link = pick(this.#links)
    if (!this.#waits) {
      const qos = between(0, 2) as QoS
      if (qos === 0) void this.#publish(link, write, 0)
      else this.#track(write, () => this.#publish(link, write, qos))
      return write.records
    }
    if (chance(0.5)) {
      this.#track(write, () => this.#post(write))
      return write.records
    }
    if (chance(0.5) || write.records === limit) {
      const qos = between(1, 2) as 1 | 2
      this.#track(write, () => this.#publish(link, write, qos))
      return write.records
    }
    // Nothing says when a write at QoS 0 is stored, but the ack of the next one on its connection.
    const next = this.#plan(limit - write.records)
    void this.#publish(link, write, 0)
    this.#track(next, () => this.#publish(link, next, 1))
    return write.records + next.records
  }

  #plan(limit: number): PlannedWrite {
    const { habits, run, thing } = this.#setup
    run.writes++
    return planWrite(thing, habits(thing.place), limit)
  }

  #track(write: PlannedWrite, send: () => Promise<void>): void {
    const sentAt = performance.now()
    this.#unacked++
    send()
      .then(() => {
        this.#setup.run.acks.take(sentAt)
        this.#setup.thing.acked = write.marks
      })
      .catch((error: Error) => this.#refused(error.message))
      .finally(() => {
        this.#unacked--
      })
  }

  async #publish(link: MqttClient, { body, isRepeated }: PlannedWrite, qos: QoS): Promise<void> {
    const { thingId, thingToken } = this.#setup.thing.thing
    const ref = chance(0.5) ? thingId : thingToken
    const topic = chance(0.9) ? `things/${ref}/write` : `v2/things/${ref}`
    const times = isRepeated ? 2 : 1
    await Promise.all(Array.from({ length: times }, () => publishUntilAcked(link, topic, body, qos)))
  }

  async #post({ body, isRepeated }: PlannedWrite): Promise<void> {
    for (let times = isRepeated ? 2 : 1; times > 0; times--) {
      const { thingToken } = this.#setup.thing.thing
      const { status, body: answer } = await pick(this.#http).post(`/v2/things/${thingToken}`, body)
      if (status !== 201) this.#refused(`${status} ${answer}`)
    }
  }

  #refused(what: string): void {
    this.#setup.run.refusals.push(`thing ${this.#setup.thing.place}: ${what}`)
  }
}

/** Resolves when the write is acked: with PUBACK or PUBREC; at QoS 0 at once. */
async function publishUntilAcked(link: MqttClient, topic: string, body: string, qos: QoS): Promise<void> {
  if (qos !== 2) return await link.publish(topic, body, { qos })
  const messageId = await link.publishUntilPubrec(topic, body)
  link.send({ cmd: 'pubrel', messageId })
}
