import { expect } from 'vitest'
import { readAll, type ServerAddress, type Thing } from '../helpers/http-client.ts'
import { connectMqtt, isMessageOn, isOf, type MqttClient } from '../helpers/mqtt-client.ts'
import type { Cast } from './cast.ts'

/** In every value and every refused body of the victim; who should not see the victim must not see this. */
export const victimsMark = 'of the victim'

interface ListedRefusal {
  readonly reason: string
  readonly message: string
  readonly excerpt: string
}

/** Whether it is of the victim's own, or of the write session that is the victim's: with a will that may not be. */
function isOwn({ excerpt, message }: ListedRefusal): boolean {
  return excerpt.includes(victimsMark) || message.startsWith('CONNACK 5: the will is on ')
}

/** Beside those of things: nobody else may read or write it. */
const victimsTopic = 'house/victim/state'

interface Door extends ServerAddress {
  readonly mqttUrl: string
}

/**
 * The victim's own publisher and subscriber, and others who may see the victim. All keep one connection all the while;
 * it is known what was written and what must have been received.
 */
export class Neighbour {
  readonly #server: Door
  readonly #victim: Thing
  readonly #publisher: MqttClient
  readonly #subscriber: MqttClient
  readonly #others: readonly MqttClient[]
  readonly #written: string[] = []
  #refused = 0

  private constructor(server: Door, { victim }: Cast, clients: readonly MqttClient[]) {
    const [publisher, subscriber, ...others] = clients
    if (!publisher || !subscriber) throw new Error('the neighbour has no clients')
    this.#server = server
    this.#victim = victim
    this.#publisher = publisher
    this.#subscriber = subscriber
    this.#others = others
  }

  /** Writes the victim's position and settings too, and one write that is refused. */
  static async open(server: Door, cast: Cast): Promise<Neighbour> {
    const thing = { username: 'victim', password: cast.victim.thingToken }
    const session = { username: 'reader', password: cast.words['read session of victim'], clean: false }
    const admin = { username: 'operator', password: server.adminKey }
    const clients = []
    for (const options of [
      { ...thing, clientId: 'station' },
      { ...thing, clientId: 'display', clean: false },
      { ...session, clientId: 'dashboard' },
      { ...admin, clientId: 'console' },
      { clientId: 'sensor' },
    ]) {
      clients.push(await connectMqtt({ url: server.mqttUrl, ...options }))
    }
    const neighbour = new Neighbour(server, cast, clients)
    await neighbour.#begin()
    return neighbour
  }

  /** One write goes from the publisher to the subscriber as ever, and everybody is still connected. */
  async probe(): Promise<void> {
    const value = `${this.#written.length} ${victimsMark}`
    this.#written.push(value)
    await this.#publisher.publish(this.#topic('write'), { values: [{ key: 'temperature', value }] })
    const isIt = isMessageOn(this.#topic('values/temperature'))
    await this.#subscriber.next(packet => isIt(packet) && packet.payload.includes(value))
    await this.#publisher.publish(victimsTopic, value, { retain: true })
    await this.#subscriber.next(
      packet => isMessageOn(victimsTopic)(packet) && String(packet.payload) === value,
    )
    await Promise.all(this.#others.map(client => client.ping()))
  }

  /** One write that is refused is told to the victim; whoever else listens for errors would hear of it. */
  async probeErrors(): Promise<void> {
    this.#refused += 1
    await this.#publisher.publish(this.#topic('write'), `${this.#refused} ${victimsMark}`)
    // The message itself is one of ten a second at most; the list has all.
    const [newest] = await this.#errors()
    expect(newest).toMatchObject({ reason: 'invalid_json', excerpt: `${this.#refused} ${victimsMark}` })
  }

  /** Exactly what the victim wrote was stored, and was received on the one connection, each once, in order. */
  async expectUntouched(): Promise<void> {
    const { url } = this.#server
    const stored = await readAll(this.#server, this.#victim, 'temperature')
    expect(stored.map(record => record.value).reverse()).toEqual(this.#written)
    const resources = await fetch(`${url}/v2/things/${this.#victim.thingToken}/resources`)
    expect(((await resources.json()) as { resources: string[] }).resources.sort()).toEqual([
      '$geo',
      '$settings',
      'temperature',
    ])
    for (const key of ['$geo', '$settings']) {
      expect(await readAll(this.#server, this.#victim, key), key).toHaveLength(1)
    }
    expect((await this.#errors()).filter(refused => !isOwn(refused))).toEqual([])
    for (const client of this.#others) {
      await client.ping()
      const writes = client.received
        .filter(isOf('publish'))
        .map(({ payload }) => JSON.parse(payload.toString()))
      const values = (writes as { key: string; value: unknown }[][]).flat()
      expect(values.filter(({ key }) => !key.startsWith('$')).map(({ value }) => value)).toEqual(
        this.#written,
      )
    }
    await this.#subscriber.ping()
    const live = this.#subscriber.received.filter(isMessageOn(this.#topic('values/temperature')))
    const values = live.map(({ payload }) => (JSON.parse(payload.toString()) as { value: string }).value)
    expect(values).toEqual(this.#written)
    const relayed = this.#subscriber.received.filter(isMessageOn(victimsTopic))
    expect(relayed.map(({ payload }) => String(payload))).toEqual(this.#written)
    const others = this.#subscriber.received
      .filter(isOf('publish'))
      .map(({ topic }) => topic.replace(this.#victim.thingToken, '<token>'))
    expect(new Set(others)).toEqual(
      new Set(
        ['values/temperature', 'values/$geo', 'values/$settings', 'errors', 'date']
          .map(rest => `things/<token>/${rest}`)
          .concat(victimsTopic),
      ),
    )
  }

  async close(): Promise<void> {
    const clients = [this.#publisher, this.#subscriber, ...this.#others]
    await Promise.all(clients.map(client => client.destroy()))
  }

  async #begin(): Promise<void> {
    expect(await this.#subscriber.subscribe(this.#topic('#'), 1)).toBe(1)
    expect(await this.#subscriber.subscribe('house/victim/#', 1)).toBe(1)
    for (const client of this.#others) {
      // The last has no other credential.
      const ref = client === this.#others.at(-1) ? this.#victim.thingToken : this.#victim.thingId
      expect(await client.subscribe(`v2/things/${ref}`, 1)).toBe(1)
    }
    await this.#publisher.publish(this.#topic('write'), {
      values: [
        { key: '$geo', value: [2.22, 41.41] },
        { key: '$settings', value: { owner: victimsMark } },
      ],
    })
    await this.#subscriber.next(isMessageOn(this.#topic('values/$geo')))
    await this.#subscriber.next(isMessageOn(this.#topic('values/$settings')))
    await this.probeErrors()
    await this.#subscriber.next(isMessageOn(this.#topic('errors')))
    await this.probe()
  }

  #topic(rest: string): string {
    return `things/${this.#victim.thingToken}/${rest}`
  }

  async #errors(): Promise<readonly ListedRefusal[]> {
    const response = await fetch(`${this.#server.url}/v2/things/${this.#victim.thingToken}/errors?limit=100`)
    expect(response.status).toBe(200)
    return (await response.json()) as ListedRefusal[]
  }
}
