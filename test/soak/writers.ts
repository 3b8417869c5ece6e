import { setTimeout as delay } from 'node:timers/promises'
import type { QoS } from 'mqtt-packet'
import { post } from '../helpers/http-connection.ts'
import { isOf, type MqttClient, publishPacket } from '../helpers/mqtt-client.ts'
import { type Version, versionNames, versionOf, WriteForm } from '../helpers/mqtt-versions.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import { openLink } from './mqtt-link.ts'
import {
  between,
  chance,
  type Habits,
  type Ledger,
  type PlannedWrite,
  pick,
  planWrite,
  type ThingLedger,
} from './plan.ts'

export interface LoadSetup {
  readonly nodes: readonly ServerProcess[]
  readonly ledger: Ledger
  readonly habits: (place: number) => Habits
  readonly records: number
  /** A second. */
  readonly rate: number
  readonly onProgress: (sent: number) => void
}

export interface LoadResult {
  readonly records: number
  readonly writes: number
  readonly seconds: number
  /** Answers that were no 201, and connections that were closed. */
  readonly refusals: readonly string[]
}

/** Milliseconds. */
const tick = 5
/** How much more than its share one thing may have written while others wait for their acks; and records on top. */
const unevenness = { factor: 1.5, records: 20 }
/** Unacked writes of a thing that does not wait for its acks. */
const window = 32

/**
 * Writes to all things at an even rate. Three things in ten use both doors of all nodes in turn, each write behind the ack of
 * the one before; the others one MQTT connection, at QoS 0, 1 and 2 mixed, without waiting. So the order of a thing's writes
 * is known.
 */
export async function runLoad(setup: LoadSetup): Promise<LoadResult> {
  const { ledger, records, rate, onProgress } = setup
  const run = { refusals: [] as string[], writes: 0 }
  const writers = await Promise.all(ledger.things.map(thing => Writer.open(setup, run, thing)))
  const start = performance.now()
  let sent = 0
  let turn = 0
  while (sent < records) {
    const due = Math.min(records, ((performance.now() - start) / 1_000) * rate)
    for (let busy = 0; sent < due && busy < writers.length; turn++) {
      const most = (sent / writers.length) * unevenness.factor + unevenness.records
      const count = writers[turn % writers.length]?.write(records - sent, most) ?? 0
      sent += count
      busy = count === 0 ? busy + 1 : 0
    }
    onProgress(sent)
    await delay(tick)
  }
  const seconds = (performance.now() - start) / 1_000
  for (const writer of writers) await writer.close()
  return { ...run, records: sent, seconds }
}

/** What all writers note. */
interface Run {
  readonly refusals: string[]
  writes: number
}

interface Link {
  readonly version: Version
  readonly client: MqttClient
  readonly form: WriteForm
}

/** Writes to one thing, over MQTT in one version or, at several nodes, in both. */
class Writer {
  readonly #run: Run
  readonly #thing: ThingLedger
  readonly #habits: Habits
  /** To one node; of a thing that waits for its acks, to all. */
  readonly #links: readonly Link[]
  /** For HTTP; none, unless it waits for its acks. */
  readonly #urls: readonly string[]
  #unacked = 0
  #sent = 0

  private constructor(
    { habits }: LoadSetup,
    run: Run,
    thing: ThingLedger,
    links: readonly Link[],
    urls: readonly string[],
  ) {
    this.#run = run
    this.#thing = thing
    this.#habits = habits(thing.place)
    this.#links = links
    this.#urls = urls
  }

  static async open(setup: LoadSetup, run: Run, thing: ThingLedger): Promise<Writer> {
    const { nodes } = setup
    const waits = thing.place % 10 < 3
    const links = (waits ? nodes : [pick(nodes)]).map(async ({ mqttUrl: url }, index) => {
      const version = versionOf(thing.place + index)
      const password = thing.thing.thingToken
      const client = await openLink({ version, url, clientId: `writer ${index}`, password })
      return { version, client, form: new WriteForm(version) }
    })
    const urls = waits ? nodes.map(({ url }) => url) : []
    return new Writer(setup, run, thing, await Promise.all(links), urls)
  }

  /** @returns how many records it sent, at most `limit`; 0 if it is busy, or has sent `most` in all */
  write(limit: number, most: number): number {
    const waits = this.#urls.length > 0
    if (this.#unacked >= (waits ? 1 : window) || this.#sent >= most) return 0
    const count = waits ? this.#writeInTurn(limit) : this.#writeAtOnce(limit)
    this.#sent += count
    return count
  }

  /** Waits until everything is committed. */
  async close(): Promise<void> {
    while (this.#unacked > 0) await delay(tick)
    for (const { version, client } of this.#links) {
      await client.ping().catch(() => this.#refused(`connection lost in ${versionNames[version]}`))
      await client.disconnect()
    }
  }

  #writeAtOnce(limit: number): number {
    const write = this.#plan(limit)
    const qos = between(0, 2) as QoS
    if (qos === 0) void this.#publish(pick(this.#links), write, 0)
    else this.#track(write, () => this.#publish(pick(this.#links), write, qos))
    return write.records
  }

  #writeInTurn(limit: number): number {
    const write = this.#plan(limit)
    const link = pick(this.#links)
    if (chance(0.5)) this.#track(write, () => this.#post(write))
    else if (chance(0.5) || write.records === limit)
      this.#track(write, () => this.#publish(link, write, between(1, 2) as 1 | 2))
    else {
      // Nothing says when a write at QoS 0 is stored, but the ack of the next one on its connection.
      const next = this.#plan(limit - write.records)
      void this.#publish(link, write, 0)
      this.#track(next, () => this.#publish(link, next, 1))
      return write.records + next.records
    }
    return write.records
  }

  #plan(limit: number): PlannedWrite {
    this.#run.writes++
    return planWrite(this.#thing, this.#habits, limit)
  }

  #track(write: PlannedWrite, send: () => Promise<void>): void {
    this.#unacked++
    send()
      .then(() => {
        this.#thing.acked = write.marks
      })
      .catch((error: Error) => this.#refused(error.message))
      .finally(() => {
        this.#unacked--
      })
  }

  /** Resolves when the write is acked: with PUBACK or PUBREC; at QoS 0 at once. */
  async #publish({ version, client, form }: Link, planned: PlannedWrite, qos: QoS): Promise<void> {
    const { isRepeated } = planned
    const ref = this.#thing.thing[chance(0.5) ? 'thingId' : 'thingToken']
    const write = version === 5 ? planned.in5 : planned
    const publish = async () => {
      const { topic, ...properties } = form.of(
        chance(0.9) ? `things/${ref}/write` : `v2/things/${ref}`,
        write,
      )
      const messageId = client.nextMessageId()
      client.send(publishPacket(topic, write.body, { qos, messageId, ...properties }))
      if (qos === 0) return
      const { reasonCode = 0 } = await client.next(isOf(qos === 1 ? 'puback' : 'pubrec', messageId))
      if (reasonCode >= 0x80) throw new Error(`acknowledged with ${reasonCode} in ${versionNames[version]}`)
      if (qos === 2) client.send({ cmd: 'pubrel', messageId })
    }
    await Promise.all(isRepeated ? [publish(), publish()] : [publish()])
  }

  async #post({ body, isRepeated }: PlannedWrite): Promise<void> {
    const path = `/v2/things/${this.#thing.thing.thingToken}`
    for (let times = isRepeated ? 2 : 1; times > 0; times--) {
      const { status, body: answer } = await post(`${pick(this.#urls)}${path}`, body)
      if (status !== 201) this.#refused(`${status} ${answer}`)
    }
  }

  #refused(what: string): void {
    this.#run.refusals.push(`thing ${this.#thing.place}: ${what}`)
  }
}
