import { setTimeout as delay } from 'node:timers/promises'
import type { CommitOrder } from '../fault/commit-order.ts'
import { EventReader } from '../fault/event-reader.ts'
import { type Habit, LiveSession } from '../fault/live-session.ts'
import type { Receiver } from '../fault/receiver.ts'
import type { Thing } from '../helpers/http-client.ts'
import { commitOrders } from './commit-order.ts'
import { LiveSubscriber, liveWays } from './live-subscriber.ts'
import { deadline, type Participant, untilDone } from './participant.ts'
import type { Service } from './service.ts'
import type { Writers } from './writers.ts'

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
      // Who came back meanwhile is told of what is written behind that.
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
