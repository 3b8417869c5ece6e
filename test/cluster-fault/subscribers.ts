import { get } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { openClient } from '../../src/store/redis/connection/connection.ts'
import { redisKeys } from '../../src/store/redis/keys.ts'
import { decodeMember, writeNumberInState } from '../../src/store/redis/record-member.ts'
import { type CommitOrder, orderOf, type Stored } from '../fault/commit-order.ts'
import { EventReader } from '../fault/event-reader.ts'
import { type Habit, LiveSession, valueIn } from '../fault/live-session.ts'
import { fleeting, type Receiver, type Wanted } from '../fault/receiver.ts'
import type { Thing } from '../helpers/http-client.ts'
import { connectAccepted, type Message } from '../helpers/mqtt-client.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import { deadline, type Participant, untilDone } from './participant.ts'
import type { Service } from './service.ts'
import type { Writers } from './writers.ts'

const keys = redisKeys('thingwire')

/** How a subscriber without a session gets its messages. */
const liveWays = ['QoS 0', 'QoS 1', 'QoS 1 over WebSocket', 'chunks'] as const
type LiveWay = (typeof liveWays)[number]

/** What came over one connection. */
interface Visit {
  readonly values: string[]
  isOver: boolean
}

interface Open {
  readonly closed: Promise<void>
  close(): Promise<void>
}

/** A subscriber without a session: each connection gets everything, in order, or the connection is closed. */
class LiveSubscriber {
  readonly name: string
  readonly thing: Thing
  readonly way: LiveWay
  readonly #visits: Visit[] = []
  #open: Open | undefined

  constructor(way: LiveWay, thing: Thing, at: string) {
    this.name = `${way} at ${at} of ${thing.thingId}`
    this.thing = thing
    this.way = way
  }

  /** How often its connection was closed. */
  get losses(): number {
    return this.#visits.filter(({ isOver }) => isOver).length
  }

  /** Whether nothing has come over the connection that is open. */
  get isNew(): boolean {
    const visit = this.#visits.at(-1)
    return visit?.isOver === false && visit.values.length === 0
  }

  get closed(): Promise<void> {
    return this.#open?.closed ?? Promise.resolve()
  }

  get wanted(): Wanted {
    return this.way === 'chunks' ? 'writes' : 'values'
  }

  /** Resolves when it is subscribed. @throws Error if it is not let in */
  async connect(server: ServerProcess): Promise<void> {
    const visit: Visit = { values: [], isOver: false }
    const take = (text: string) => {
      const value = valueIn(text)
      if (value !== fleeting) visit.values.push(value)
    }
    this.#open = await (this.way === 'chunks'
      ? this.#openChunks(server, take)
      : this.#subscribe(server, take))
    this.#visits.push(visit)
    void this.#open.closed.then(() => {
      visit.isOver = true
    })
  }

  async leave(): Promise<void> {
    await this.#open?.close()
  }

  /** Whether everything has come over the connection that is open. */
  isComplete(order: CommitOrder): boolean {
    const visit = this.#visits.at(-1)
    return visit?.isOver !== false || visit.values.at(-1) === order[this.wanted].at(-1)
  }

  /** Faults of everything that has come so far, in words. */
  check(order: CommitOrder): string[] {
    const wanted = order[this.wanted]
    const places = new Map(wanted.map((value, place) => [value, place]))
    return this.#visits.flatMap(({ values, isOver }, visit) => {
      const first = places.get(values[0] ?? '') ?? 0
      const wrong = values.findIndex((value, index) => value !== wanted[first + index])
      const at = `${this.name}, connection ${visit + 1}`
      if (wrong !== -1) return [`${at}: ${values[wrong]} where ${wanted[first + wrong]} is due`]
      if (visit === 0 && values.length > 0 && first !== 0) return [`${at}: begins with ${values[0]}`]
      if (isOver || this.isComplete(order)) return []
      return [`${at}: nothing behind ${values.at(-1)}, and it is still open`]
    })
  }

  async #subscribe(server: ServerProcess, take: (text: string) => void): Promise<Open> {
    const { thingId, thingToken } = this.thing
    const url = this.way === 'QoS 1 over WebSocket' ? server.webSocketUrl : server.mqttUrl
    const onMessage = ({ payload, retain }: Message) => {
      if (!retain) take(payload.toString())
    }
    const client = await connectAccepted({ url, username: 'live', password: thingToken, onMessage })
    await client.subscribe(`things/${thingId}/values/+`, this.way === 'QoS 0' ? 0 : 1)
    return { closed: client.closed, close: () => client.destroy() }
  }

  #openChunks({ url }: ServerProcess, take: (text: string) => void): Promise<Open> {
    return new Promise((resolve, reject) => {
      const outgoing = get(
        `${url}/v2/things/${this.thing.thingToken}?keepAlive=1000`,
        { agent: false },
        incoming => {
          const closed = new Promise<void>(end => incoming.once('close', end))
          if (incoming.statusCode !== 200) reject(new Error(`no stream: ${incoming.statusCode}`))
          void closed.then(() => reject(new Error('no stream: it ended before it began')))
          incoming.on('error', () => {})
          const close = async () => {
            incoming.destroy()
            await closed
          }
          // A load balancer may send several chunks as one.
          const documents = new JsonDocuments()
          incoming.setEncoding('utf8')
          incoming.on('data', (part: string) => {
            for (const document of documents.take(part)) {
              if (document.startsWith('[')) take(document)
              else if (document.includes('"status"')) resolve({ closed, close })
            }
          })
        },
      )
      outgoing.on('error', reject)
    })
  }
}

const habits: readonly Habit[] = ['staying', 'away', 'restless', 'lagging']
const noOrder: CommitOrder = { values: [], writes: [] }

type Watcher = LiveSession | EventReader | LiveSubscriber

/** Somebody who is to be connected, and at which node in the first place. */
interface Seat {
  readonly who: Watcher
  readonly place: number
  isConnected: boolean
}

/**
 * Persistent sessions and streams of events, which get everything over all of their connections, and subscribers that
 * keep nothing. Whoever loses the connection goes to the next node.
 */
export class Watchers implements Participant {
  readonly name = 'subscribers'
  readonly #service: Service
  readonly #writers: Writers
  #seats: readonly Seat[] = []
  readonly #lost: string[] = []
  #isRunning = false
  #isEnded = false

  /** @param writers of things in which no value is stored twice; they begin before, and stop before this is checked */
  constructor(service: Service, writers: Writers) {
    this.#service = service
    this.#writers = writers
  }

  /** How often subscribers that keep nothing have lost their connection. */
  get losses(): number {
    return this.#live.reduce((sum, { losses }) => sum + losses, 0)
  }

  /** Messages that came again to persistent sessions. */
  get repeated(): number {
    return this.#receivers.reduce((sum, { repeated }) => sum + repeated, 0)
  }

  async begin(): Promise<void> {
    if (this.#seats.length === 0) {
      this.#seats = this.#writers.things.flatMap(seatsOf)
      await Promise.all(this.#seats.map(seat => this.#connect(seat, seat.place)))
      for (const seat of this.#seats.filter(each => !isAway(each))) {
        void this.#keepConnected(seat).catch((error: Error) => this.#lost.push(error.message))
      }
    }
    // In the round before they may have gone to other nodes.
    for (const seat of this.#seats) seat.isConnected = false
    await Promise.all(this.#seats.map(({ who }) => who.leave()))
    while (this.#seats.some(seat => !isAway(seat) && !seat.isConnected)) await delay(20)
  }

  start(): void {
    this.#isRunning = true
  }

  /** They stay connected. */
  async stop(): Promise<void> {
    this.#isRunning = false
  }

  async check(): Promise<readonly string[]> {
    await Promise.all(this.#seats.filter(isAway).map(seat => this.#connect(seat, seat.place)))
    let orders = await this.#markedOrders()
    const orderOf = (thingId: string) => orders.get(thingId) ?? noOrder
    const areComplete = () =>
      this.#live.every(subscriber => subscriber.isComplete(orderOf(subscriber.thing.thingId)))
    const until = performance.now() + deadline
    while (!areComplete() && performance.now() < until) {
      await delay(1_000)
      // Who came back meanwhile receives the writes behind that.
      if (this.#live.some(({ isNew }) => isNew)) orders = await this.#markedOrders()
    }
    const missing = await Promise.all(
      this.#receivers.map(async receiver => {
        const order = orderOf(receiver.thingId)
        const left = await receiver.until(order[receiver.wanted], deadline)
        receiver.check(order)
        return left.length > 0 ? [`${receiver.name}: ${left.length} never came, such as ${left[0]}`] : []
      }),
    )
    const live = this.#live.flatMap(subscriber => subscriber.check(orderOf(subscriber.thing.thingId)))
    // A stream that is resumed shows nothing again (contract §8).
    const again = this.#seats.flatMap(({ who }) =>
      who instanceof EventReader && who.receiver.repeated > 0
        ? [`${who.receiver.name}: ${who.receiver.repeated} writes came again`]
        : [],
    )
    const violations = this.#receivers.flatMap(receiver => receiver.violations)
    return [...this.#lost, ...missing.flat(), ...live, ...again, ...violations]
  }

  /** With a write more for each thing, behind all others. */
  async #markedOrders(): Promise<ReadonlyMap<string, CommitOrder>> {
    await this.#writers.mark()
    const things = this.#writers.things.map(({ thingId }) => thingId)
    return await commitOrders(this.#service.redis.url, things)
  }

  async end(): Promise<void> {
    this.#isEnded = true
    await Promise.all(this.#seats.map(({ who }) => who.leave()))
  }

  get #receivers(): readonly Receiver[] {
    return this.#seats.flatMap(({ who }) => (who instanceof LiveSubscriber ? [] : [who.receiver]))
  }

  get #live(): readonly LiveSubscriber[] {
    return this.#seats.flatMap(({ who }) => (who instanceof LiveSubscriber ? [who] : []))
  }

  async #keepConnected(seat: Seat): Promise<void> {
    const { who, place } = seat
    const isRestless = !(who instanceof LiveSubscriber) && who.habit === 'restless'
    for (let visit = 1; !this.#isEnded; visit++) {
      const closed = who.closed.then(() => true)
      const isClosed = await (isRestless
        ? Promise.race([closed, delay(100 + Math.random() * 500, false)])
        : closed)
      if (this.#isEnded || !(isClosed || this.#isRunning)) continue
      await who.leave()
      await this.#connect(seat, isRestless ? place + visit : place)
    }
  }

  /** To the node of this place, or the next one that lets it in. @throws Error if none does */
  async #connect(seat: Seat, place: number): Promise<void> {
    const { who } = seat
    seat.isConnected = false
    const attempt = async (number: number) => {
      const server = this.#service.node(place + number)
      if (who instanceof LiveSubscriber) await who.connect(server)
      else await who.connect(who instanceof LiveSession ? server.mqttUrl : server.url)
    }
    seat.isConnected = await untilDone(attempt, () => this.#isEnded)
  }
}

function seatsOf(thing: Thing): Seat[] {
  const at = (place: number, who: Watcher) => ({ who, place, isConnected: false })
  return [
    ...habits.map((habit, place) => at(place, new LiveSession(habit, thing, 'values'))),
    at(1, new LiveSession('staying', thing, 'writes')),
    at(0, new EventReader('staying', thing)),
    at(1, new EventReader('restless', thing)),
    ...[0, 1].flatMap(place =>
      liveWays.map(way => at(place, new LiveSubscriber(way, thing, `node ${place}`))),
    ),
  ]
}

function isAway({ who }: Seat): boolean {
  return !(who instanceof LiveSubscriber) && who.habit === 'away'
}

/** By thing id; of things of which all values are texts. @param url of the Redis */
async function commitOrders(
  url: string,
  thingIds: readonly string[],
): Promise<ReadonlyMap<string, CommitOrder>> {
  const client = await openClient(url)
  try {
    const orders = thingIds.map(async thingId => {
      const stored: Stored[] = []
      for (const key of await client.zrange(keys.resources(thingId), 0, -1)) {
        for (const member of await client.zrangeBuffer(keys.records(thingId, key), 0, -1)) {
          const value = String(JSON.parse(decodeMember(key, 0, member).value))
          const [writeNumber, place] = [writeNumberInState(member), member.readUInt16BE(7)]
          stored.push({ datetime: 0, writeNumber, place, value })
        }
      }
      return [thingId, orderOf(stored)] as const
    })
    return new Map(await Promise.all(orders))
  } finally {
    client.disconnect()
  }
}

/** Objects and arrays that come one behind the other, with nothing between them, in parts of any size. */
export class JsonDocuments {
  #text = ''
  /** The first letter that was not looked at. */
  #at = 0
  #depth = 0
  #isInString = false

  /** @returns those that end with this part, as texts */
  take(part: string): string[] {
    const documents: string[] = []
    this.#text += part
    for (; this.#at < this.#text.length; this.#at++) {
      const letter = this.#text[this.#at]
      if (this.#isInString) {
        if (letter === '\\') this.#at++
        else if (letter === '"') this.#isInString = false
      } else if (letter === '"') this.#isInString = true
      else if (letter === '{' || letter === '[') this.#depth++
      else if (letter === '}' || letter === ']') {
        this.#depth--
        if (this.#depth > 0) continue
        documents.push(this.#text.slice(0, this.#at + 1))
        this.#text = this.#text.slice(this.#at + 1)
        this.#at = -1
      }
    }
    return documents
  }
}
