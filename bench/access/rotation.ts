import { ask, createThing, readAll, type Thing } from '../../test/helpers/http-client.ts'
import { connectMqtt, type MqttClient } from '../../test/helpers/mqtt-client.ts'
import type { ServerProcess } from '../../test/helpers/server-process.ts'
import { eventually } from '../../test/helpers/waiting.ts'

/** Milliseconds between two writes. */
const interval = 10
const key = 'n'

export interface RotationReport {
  readonly rotations: number
  readonly acked: number
  /** Acknowledged, and not in the store. */
  readonly lost: number
  /** Of one write more than one record. */
  readonly doubled: number
  readonly received: number
  /** What the subscriber was not sent, or out of order, or twice without DUP. */
  readonly missing: number
  readonly outOfOrder: number
  readonly repeatedWithoutDup: number
  readonly repeatedWithDup: number
  /** CONNACKs of the subscriber without session present. */
  readonly sessionsLost: number
}

/**
 * A thing that writes at QoS 1 and subscribes to itself changes its token again and again: by turns it switches first and
 * the old token is removed then, as it should be, or it is cut off by the removal and switches then.
 */
export async function measureRotation(server: ServerProcess, seconds: number): Promise<RotationReport> {
  const device = await Device.start(server)
  const end = performance.now() + seconds * 1_000
  let rotations = 0
  while (performance.now() < end) await device.rotate(rotations++ % 2 === 0)
  return { rotations, ...(await device.finish()) }
}

class Device {
  readonly #server: ServerProcess
  readonly #thingId: string
  #token: string
  #publisher: MqttClient
  /** Every connection of the subscriber, one after another. */
  readonly #subscribers: MqttClient[] = []
  #timer: NodeJS.Timeout | undefined
  #written = 0
  /** Values that were sent and not acknowledged yet, in order. */
  readonly #unacked = new Set<number>()
  readonly #acked: number[] = []
  #sessionsLost = 0

  static async start(server: ServerProcess): Promise<Device> {
    const thing = await createThing(server)
    const device = new Device(server, thing, await publisherOf(server, thing.thingToken))
    const subscriber = await device.#subscribe()
    await subscriber.subscribe(`things/${thing.thingToken}/values/${key}`)
    device.#write()
    return device
  }

  private constructor(server: ServerProcess, { thingId, thingToken }: Thing, publisher: MqttClient) {
    this.#server = server
    this.#thingId = thingId
    this.#token = thingToken
    this.#publisher = publisher
  }

  #write(): void {
    this.#timer = setInterval(() => this.#publish(++this.#written), interval)
  }

  async rotate(switchesFirst: boolean): Promise<void> {
    const tokens = `/v2/admin/things/${this.#thingId}/tokens`
    const before = await ask<{ tokens: { tokenId: string }[] }>(this.#server, 'GET', tokens)
    const { thingToken } = await ask<Thing>(this.#server, 'POST', tokens)
    const removeOld = async () => {
      for (const { tokenId } of before.tokens) await ask(this.#server, 'DELETE', `${tokens}/${tokenId}`)
    }
    if (!switchesFirst) await removeOld()
    await this.#switchTo(thingToken)
    if (switchesFirst) await removeOld()
    // With the new token something is to be written, and received.
    const mark = this.#written + 10
    await until(() => this.#acked.includes(mark) && this.#hasReceived(mark))
  }

  async finish(): Promise<Omit<RotationReport, 'rotations'>> {
    clearInterval(this.#timer)
    await until(() => this.#unacked.size === 0 && this.#hasReceived(this.#written))
    await Promise.all([this.#publisher.disconnect(), this.#subscribers.at(-1)?.disconnect()])
    const thing = { thingId: this.#thingId, thingToken: this.#token }
    const stored = (await readAll(this.#server, thing, key)).map(({ value }) => value)
    const isStored = new Set(stored)
    return {
      acked: this.#acked.length,
      lost: this.#acked.filter(value => !isStored.has(value)).length,
      doubled: stored.length - isStored.size,
      sessionsLost: this.#sessionsLost,
      ...this.#judgeReceived(),
    }
  }

  #judgeReceived() {
    const received = this.#subscribers.flatMap(messagesOf)
    const seen = new Set<number>()
    const counts = { outOfOrder: 0, repeatedWithoutDup: 0, repeatedWithDup: 0 }
    let newest = 0
    for (const { value, dup } of received) {
      if (seen.has(value)) counts[dup ? 'repeatedWithDup' : 'repeatedWithoutDup']++
      else if (value < newest) counts.outOfOrder++
      seen.add(value)
      newest = Math.max(newest, value)
    }
    return { ...counts, received: received.length, missing: this.#written - seen.size }
  }

  async #switchTo(token: string): Promise<void> {
    this.#token = token
    const old = this.#publisher
    this.#publisher = await publisherOf(this.#server, token)
    // As a device does: what was not acknowledged is sent again, before what is new.
    for (const value of this.#unacked) this.#publish(value, true)
    await Promise.all([old.destroy(), this.#subscribe()])
  }

  async #subscribe(): Promise<MqttClient> {
    const subscriber = await connectMqtt({
      url: this.#server.webSocketUrl,
      username: this.#token,
      clientId: 'board',
      clean: false,
    })
    if (this.#subscribers.length > 0 && !subscriber.connack.sessionPresent) this.#sessionsLost++
    this.#subscribers.push(subscriber)
    return subscriber
  }

  #hasReceived(value: number): boolean {
    return this.#subscribers.slice(-2).some(client => messagesOf(client).some(each => each.value === value))
  }

  #publish(value: number, dup = false): void {
    this.#unacked.add(value)
    // The write id makes one of what is sent twice.
    const body = { id: `${key}-${value}`, values: [{ key, value }] }
    this.#publisher.publish(`things/${this.#token}/write`, body, { dup }).then(
      () => {
        if (this.#unacked.delete(value)) this.#acked.push(value)
      },
      () => {},
    )
  }
}

function messagesOf({ received }: MqttClient): { readonly value: number; readonly dup: boolean }[] {
  return received.flatMap(packet => {
    if (packet.cmd !== 'publish') return []
    const { value } = JSON.parse(packet.payload.toString()) as { value: number }
    return [{ value, dup: packet.dup }]
  })
}

function publisherOf({ mqttUrl }: ServerProcess, thingToken: string): Promise<MqttClient> {
  return connectMqtt({ url: mqttUrl, username: thingToken, clientId: 'sensor' })
}

/** @throws Error if it is not so within 20 s */
async function until(isSo: () => boolean): Promise<void> {
  if (!(await eventually(isSo, 20_000))) throw new Error('the rotated thing is not served')
}
