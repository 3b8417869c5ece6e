import { setTimeout as delay } from 'node:timers/promises'
import type { Thing } from '../helpers/http-client.ts'
import { type Version, versionOf } from '../helpers/mqtt-versions.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import { type CommitOrder, type CommitOrders, ordersInLevel, ordersInRedis } from './commit-order.ts'
import { storedValues } from './ledger.ts'
import { LiveSubscriber, liveWays } from './live-subscriber.ts'
import { type Participant, untilDone } from './participant.ts'
import type { Service } from './server.ts'
import { EventReader, type Habit, LiveSession, type Receiver } from './subscriber.ts'
import type { Writers } from './writers.ts'

const habits: readonly Habit[] = ['staying', 'away', 'restless', 'lagging']
const noOrder: CommitOrder = { values: [], writes: [] }

type Watcher = LiveSession | EventReader | LiveSubscriber

/** Somebody who is to be connected, and at which node in the first place. */
interface Seat {
  readonly who: Watcher
  readonly place: number
  isConnected: boolean
  /** To which it is, or was last, connected. */
  server?: ServerProcess
}

/**
 * Persistent sessions and streams of events, which get everything over all of their connections, and at nodes subscribers that
 * keep nothing. Whoever loses the connection goes to the next node, or to the server when it is there again.
 */
export class Watchers implements Participant {
  readonly name = 'subscribers'
  readonly #service: Service
  readonly #writers: Writers
  readonly #deadline: number
  #seats: readonly Seat[] = []
  readonly #lost: string[] = []
  /** Who stays and was closed by a server that was there. */
  readonly #closures: string[] = []
  #isRunning = false
  #isEnded = false

  /**
   * @param writers of things in which no value is stored twice; they begin before, and stop before this is checked
   * @param deadline for what was stored to be received, milliseconds
   */
  constructor(service: Service, writers: Writers, deadline: number) {
    this.#service = service
    this.#writers = writers
    this.#deadline = deadline
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
      this.#seats = this.#writers.things.flatMap((thing, place) =>
        seatsOf(thing, versionOf(place), this.#service.isAlone),
      )
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
    return [
      ...(await (this.#service.isAlone ? this.#checkStored() : this.#checkOrder())),
      ...this.#violations,
    ]
  }

  /** Compares what was received with the order of the store. */
  async inspect(dataDir: string): Promise<readonly string[]> {
    const orders = await ordersInLevel(dataDir)
    for (const receiver of this.#receivers) receiver.check(orders.get(receiver.thingId) ?? noOrder)
    return this.#violations
  }

  async end(): Promise<void> {
    this.#isEnded = true
    await Promise.all(this.#seats.map(({ who }) => who.leave()))
  }

  get #violations(): readonly string[] {
    // A stream that is resumed shows nothing again (contract §8).
    const again = this.#seats.flatMap(({ who }) =>
      who instanceof EventReader && who.receiver.repeated > 0
        ? [`${who.receiver.name}: ${who.receiver.repeated} writes came again`]
        : [],
    )
    // Nodes close those whose sessions another one may have.
    const closures = this.#service.isAlone ? this.#closures : []
    return [...this.#lost, ...closures, ...again, ...this.#receivers.flatMap(receiver => receiver.violations)]
  }

  get #receivers(): readonly Receiver[] {
    return this.#seats.flatMap(({ who }) => (who instanceof LiveSubscriber ? [] : [who.receiver]))
  }

  get #live(): readonly LiveSubscriber[] {
    return this.#seats.flatMap(({ who }) => (who instanceof LiveSubscriber ? [who] : []))
  }

  /** In which order it came, is known when no server holds the store: `inspect`. */
  async #checkStored(): Promise<readonly string[]> {
    const found = this.#writers.things.map(async thing => {
      const stored = await storedValues(this.#service.node(0), [thing])
      const firsts = stored.filter(value => value.endsWith('-0'))
      const receivers = this.#receivers.filter(({ thingId }) => thingId === thing.thingId)
      const missing = receivers.map(each => this.#missing(each, each.wanted === 'values' ? stored : firsts))
      return (await Promise.all(missing)).flat()
    })
    return (await Promise.all(found)).flat()
  }

  async #checkOrder(): Promise<readonly string[]> {
    let orders = await this.#markedOrders()
    const orderOf = (thingId: string) => orders.get(thingId) ?? noOrder
    const areComplete = () =>
      this.#live.every(subscriber => subscriber.isComplete(orderOf(subscriber.thing.thingId)))
    const until = performance.now() + this.#deadline
    while (!areComplete() && performance.now() < until) {
      await delay(1_000)
      // Who came back meanwhile receives the writes behind that.
      if (this.#live.some(({ isNew }) => isNew)) orders = await this.#markedOrders()
    }
    const missing = this.#receivers.map(async receiver => {
      const order = orderOf(receiver.thingId)
      const found = await this.#missing(receiver, order[receiver.wanted])
      receiver.check(order)
      return found
    })
    const live = this.#live.flatMap(subscriber => subscriber.check(orderOf(subscriber.thing.thingId)))
    return [...(await Promise.all(missing)).flat(), ...live]
  }

  async #missing(receiver: Receiver, values: readonly string[]): Promise<string[]> {
    const left = await receiver.until(values, this.#deadline)
    return left.length > 0 ? [`${receiver.name}: ${left.length} never came, such as ${left[0]}`] : []
  }

  /** With a write more for each thing, behind all others. */
  async #markedOrders(): Promise<CommitOrders> {
    await this.#writers.mark()
    const things = this.#writers.things.map(({ thingId }) => thingId)
    return await ordersInRedis(this.#service.redis.url, things)
  }

  async #keepConnected(seat: Seat): Promise<void> {
    const { who, place } = seat
    const isRestless = !(who instanceof LiveSubscriber) && who.habit === 'restless'
    const stay = this.#service.isAlone ? 50 : 500
    for (let visit = 1; !this.#isEnded; visit++) {
      const closed = who.closed.then(() => true)
      const isClosed = await (isRestless
        ? Promise.race([closed, delay(stay / 5 + Math.random() * stay, false)])
        : closed)
      if (this.#isEnded || !(isClosed || this.#isRunning)) continue
      const { server, isConnected } = seat
      await who.leave()
      await this.#connect(seat, isRestless ? place + visit : place)
      if (
        isClosed &&
        isConnected &&
        !isRestless &&
        seat.server === server &&
        !(who instanceof LiveSubscriber)
      )
        this.#closures.push(`${who.receiver.name} was closed by a server that was there`)
    }
  }

  /** To the node of this place, or the next one that lets it in. @throws Error if none does */
  async #connect(seat: Seat, place: number): Promise<void> {
    seat.isConnected = false
    seat.isConnected = await untilDone(
      async number => {
        const server = await this.#service.reach(place + number)
        await seat.who.connect(server)
        seat.server = server
      },
      () => this.#isEnded,
    )
  }
}

/** @param version of who stays with one */
function seatsOf(thing: Thing, version: Version, isAlone: boolean): Seat[] {
  const versions = (habit: Habit) => (habit === 'restless' ? ([4, 5] as const) : [version])
  const at = (place: number, who: Watcher) => ({ who, place, isConnected: false })
  const live = (place: number) =>
    liveWays.map(way => at(place, new LiveSubscriber(version, way, thing, `node ${place}`)))
  return [
    ...habits.map((habit, place) => at(place, new LiveSession(versions(habit), habit, thing, 'values'))),
    at(1, new LiveSession([version], 'staying', thing, 'writes')),
    at(0, new EventReader('staying', thing)),
    at(1, new EventReader('restless', thing)),
    ...(isAlone ? [] : [0, 1].flatMap(live)),
  ]
}

function isAway({ who }: Seat): boolean {
  return !(who instanceof LiveSubscriber) && who.habit === 'away'
}
