import { setTimeout as delay } from 'node:timers/promises'
import type { QoS } from 'mqtt-packet'
import { Connection } from '../fault/load.ts'
import type { ThingLedger } from './ledger.ts'
import { MqttLink } from './mqtt-link.ts'
import { type Habits, type PlannedWrite, planWrite } from './planned-write.ts'
import { between, chance } from './random.ts'
import type { Timing } from './timing.ts'

export interface WriterSetup {
  readonly url: string
  readonly mqttUrl: string
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
  readonly #link: MqttLink
  readonly #http: Connection | undefined
  #unacked = 0
  #sent = 0

  private constructor(setup: WriterSetup, link: MqttLink) {
    this.#setup = setup
    this.#link = link
    if (setup.thing.place % 10 < 3) this.#http = new Connection(setup.url)
  }

  static async open(setup: WriterSetup): Promise<Writer> {
    const { mqttUrl: url, thing } = setup
    const link = await MqttLink.open({ url, clientId: 'writer', password: thing.thing.thingToken })
    return new Writer(setup, link)
  }

  /** @returns how many records it sent, at most `limit`; 0 if it is busy, or has sent `most` in all */
  write(limit: number, most: number): number {
    if (this.#unacked >= (this.#http ? 1 : window) || this.#sent >= most) return 0
    const count = this.#write(limit)
    this.#sent += count
    return count
  }

  /** Waits until everything is committed. */
  async close(): Promise<void> {
    while (this.#unacked > 0) await delay(tick)
    await this.#link.ping().catch(() => this.#refused('connection lost'))
    await this.#link.disconnect()
    this.#http?.close()
  }

  #write(limit: number): number {
    const write = this.#plan(limit)
    if (!this.#http) {
      const qos = between(0, 2) as QoS
      this.#track(write, () => this.#publish(write, qos))
      return write.records
    }
    if (chance(0.5)) {
      this.#track(write, () => this.#post(write))
      return write.records
    }
    if (chance(0.5) || write.records === limit) {
      const qos = between(1, 2) as 1 | 2
      this.#track(write, () => this.#publish(write, qos))
      return write.records
    }
    // Nothing says when a write at QoS 0 is done, but the ack of the next one on its connection.
    const next = this.#plan(limit - write.records)
    void this.#publish(write, 0)
    this.#track(next, () => this.#publish(next, 1))
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

  async #publish({ body, isRepeated }: PlannedWrite, qos: QoS): Promise<void> {
    const { thingId, thingToken } = this.#setup.thing.thing
    const ref = chance(0.5) ? thingId : thingToken
    const topic = chance(0.9) ? `things/${ref}/write` : `v2/things/${ref}`
    const times = isRepeated ? 2 : 1
    await Promise.all(Array.from({ length: times }, () => this.#link.publish(topic, body, qos)))
  }

  async #post({ body, isRepeated }: PlannedWrite): Promise<void> {
    for (let times = isRepeated ? 2 : 1; times > 0; times--) {
      const { status, body: answer } = (await this.#http?.post(
        `/v2/things/${this.#setup.thing.thing.thingToken}`,
        body,
      )) ?? { status: 0, body: '' }
      if (status !== 201) this.#refused(`${status} ${answer}`)
    }
  }

  #refused(what: string): void {
    this.#setup.run.refusals.push(`thing ${this.#setup.thing.place}: ${what}`)
  }
}
