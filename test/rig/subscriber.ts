import type { Packet } from 'mqtt-packet'
import { Changes } from '../helpers/changes.ts'
import type { Thing } from '../helpers/http-client.ts'
import { codeOf, connectMqtt, isOf, type MqttClient } from '../helpers/mqtt-client.ts'
import { sessionIn, type Version, versionNames } from '../helpers/mqtt-versions.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import { EventParser } from '../http/event-source.ts'
import type { CommitOrder } from './commit-order.ts'
import { fleeting, SequenceCheck } from './ledger.ts'
import type { Count } from './magic/counter.ts'

/** What a receiver is to get: each record, or each write as a whole. */
export type Wanted = keyof CommitOrder

/** What one receiver got of one thing over all of its connections: from sessions and streams alike. */
export class Receiver {
  readonly name: string
  readonly thingId: string
  readonly wanted: Wanted
  readonly #check: SequenceCheck
  readonly #got = new Set<string>()
  readonly #breaches: string[] = []
  /** Not held against the commit order yet; undefined: a new connection. */
  #unchecked: (string | undefined)[] = []
  readonly #changes = new Changes()

  constructor(name: string, thingId: string, wanted: Wanted) {
    this.name = `${name} of ${thingId}`
    this.thingId = thingId
    this.wanted = wanted
    this.#check = new SequenceCheck(this.name)
  }

  /** In words. */
  get violations(): readonly string[] {
    return [...this.#breaches, ...this.#check.violations]
  }

  /** Whether this came before. */
  has(value: string): boolean {
    return this.#got.has(value)
  }

  /** How many different values came. */
  get count(): number {
    return this.#got.size
  }

  /** Messages that came again on a later connection. */
  get repeated(): number {
    return this.#check.repeated
  }

  connected(): void {
    this.#unchecked.push(undefined)
  }

  /** @param value of a record, or of the first of a write */
  take(value: string): void {
    if (value === fleeting) return
    this.#unchecked.push(value)
    this.#got.add(value)
    this.#changes.tell()
  }

  breach(text: string): void {
    this.#breaches.push(`${this.name}: ${text}`)
  }

  /** Compares what came since the last call with the order in which it was committed. */
  check(order: CommitOrder): void {
    const places = new Map(order[this.wanted].map((value, place) => [value, place]))
    for (const value of this.#unchecked.splice(0)) {
      const place = value === undefined ? undefined : places.get(value)
      if (value === undefined) this.#check.connected()
      else if (place === undefined) this.breach(`${value} came, and is not there`)
      else this.#check.take(place)
    }
  }

  /** @returns what of this has not come by the deadline, milliseconds */
  async until(values: readonly string[], deadline: number): Promise<string[]> {
    await this.#changes.until(() => values.every(value => this.#got.has(value)), deadline)
    return values.filter(value => !this.#got.has(value))
  }
}

/**
 * What its client does under load. `staying`: nothing. `away`: it is not there. `restless`: it leaves and comes back.
 * `lagging`: it acknowledges late.
 */
export type Habit = 'staying' | 'away' | 'restless' | 'lagging'

/** A connection may be silent for as long as a load lasts, milliseconds. */
const silence = 600_000
/** Messages that a lagging client has not acknowledged. */
const lag = 16

/** Of the subscription of a client that speaks version 5 all the time. */
const identifier = 5

/** A persistent session at QoS 1 with its client, over many lives of the server. */
export class LiveSession {
  readonly habit: Habit
  readonly receiver: Receiver
  readonly #versions: readonly Version[]
  readonly #thing: Thing
  readonly #key: string
  #client: MqttClient | undefined
  #visits = 0
  #isNew = true
  /** A CONNECT that was refused may have made a session, or not. */
  #wasRefused = false
  #hasForgottenDup = false
  #leaves = 0

  /**
   * @param versions of its connections, in turn; one session goes on in all of them
   * @param key of the resource whose values are wanted; default: all
   */
  constructor(versions: readonly Version[], habit: Habit, thing: Thing, wanted: Wanted, key = '+') {
    this.habit = habit
    const spoken = versions.map(version => versionNames[version]).join(' and ')
    this.receiver = new Receiver(`${habit} session in ${spoken} for ${wanted} ${key}`, thing.thingId, wanted)
    this.#versions = versions
    this.#thing = thing
    this.#key = key
  }

  /** Resolves when the connection is gone, whoever ended it. */
  get closed(): Promise<void> {
    return this.#client?.closed ?? Promise.resolve()
  }

  /** Of the next connection. */
  get #version(): Version {
    return this.#versions[this.#visits % this.#versions.length] ?? 4
  }

  get #hasIdentifier(): boolean {
    return this.#versions.every(version => version === 5)
  }

  /** @throws Error if there is no CONNACK */
  async connect({ mqttUrl: url }: ServerProcess): Promise<void> {
    const { thingId, thingToken } = this.#thing
    const { properties, ...session } = sessionIn(this.#version, true)
    const client = await connectMqtt({
      ...session,
      // As many as a client that lags lets wait.
      ...(properties && { properties: { ...properties, receiveMaximum: lag + 1 } }),
      url,
      clientId: `${this.habit}-${this.receiver.wanted}`,
      username: 'subscriber',
      password: thingToken,
      acknowledges: false,
      deadline: silence,
    })
    this.#visits++
    const { sessionPresent } = client.connack
    const returnCode = codeOf(client.connack)
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
      const values = `things/${thingId}/values/${this.#key}`
      const topic = this.receiver.wanted === 'writes' ? `v2/things/${thingId}` : values
      if (this.#hasIdentifier) await client.subscribeAs(identifier, { topic, qos: 1 })
      else await client.subscribe(topic)
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
        const { subscriptionIdentifier } = packet.properties ?? {}
        if (subscriptionIdentifier !== (this.#hasIdentifier ? identifier : undefined))
          this.receiver.breach(`a message has subscription identifier ${subscriptionIdentifier}`)
        if (!packet.retain) this.#take(valueIn(packet.payload.toString()), packet.dup)
        if (packet.qos === 1) unacked.push(packet)
        while (unacked.length > (this.habit === 'lagging' ? lag : 0)) {
          // With its code, mqtt-packet writes four bytes in version 5, too, by which kill points know it.
          client.send({ cmd: 'puback', messageId: unacked.shift()?.messageId ?? 0, reasonCode: 0 })
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

/** Of the record, or of the first one of an array; of a `$count`, how many records it has counted. */
export function valueIn(text: string): string {
  const [record] = [JSON.parse(text)].flat() as { value: Partial<Count> | string | null }[]
  const value = record?.value
  return String(typeof value === 'object' ? value?.applied : value)
}

/** A client of server-sent events that resumes where it was, over many lives of the server. */
export class EventReader {
  readonly habit: Habit
  readonly receiver: Receiver
  /** Resolves when the stream is gone, whoever ended it. */
  closed: Promise<void> = Promise.resolve()
  readonly #thing: Thing
  #lastId = ''
  #connection: AbortController | undefined

  constructor(habit: Habit, thing: Thing) {
    this.habit = habit
    this.receiver = new Receiver(`${habit} stream`, thing.thingId, 'writes')
    this.#thing = thing
  }

  /** Resolves when the stream has begun. */
  async connect({ url }: ServerProcess): Promise<void> {
    const connection = new AbortController()
    this.#connection = connection
    const response = await fetch(`${url}/v2/things/${this.#thing.thingToken}`, {
      headers: {
        accept: 'text/event-stream',
        ...(this.#lastId !== '' && { 'last-event-id': this.#lastId }),
      },
      signal: connection.signal,
    })
    if (response.status !== 200 || !response.body) throw new Error(`no stream: ${response.status}`)
    this.receiver.connected()
    this.closed = this.#read(response.body)
  }

  async leave(): Promise<void> {
    this.#connection?.abort()
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    const parser = new EventParser(this.#lastId)
    const decoder = new TextDecoder()
    try {
      for await (const piece of body) {
        parser.feed(decoder.decode(piece, { stream: true }))
        this.#lastId = parser.lastEventId
        for (const { event, data } of parser.events.splice(0)) {
          if (event === 'values') this.receiver.take(valueIn(data))
          else this.receiver.breach(`event: ${event}`)
        }
      }
    } catch {
      // The connection is gone.
    }
  }
}
