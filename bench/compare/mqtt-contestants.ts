import { type Subscriber, subscribe } from '../load/mqtt-subscribers.ts'
import { type MqttWrites, writeMqtt } from '../load/mqtt-writers.ts'
import { host } from '../peers/peer.ts'
import type { Contestant, Session, Turn } from './comparison.ts'
import { type StartMqttSide, writeTopic } from './mqtt-sides.ts'
import { settled, watch } from './usage.ts'

export interface PublishSetup {
  readonly payload: string
  readonly valuesPerWrite?: number
  /** A subscriber of QoS 1 of what is written. */
  readonly isWatched?: boolean
}

const publishers = 100
/**
 * Most publishes of QoS 0 that have not been read yet. A PINGREQ behind half of them asks whether they have: with fewer, what a
 * ping costs would be a good part of what is measured.
 */
const publishersWindow = 100

/** Values a second that are acked, and delivered if there is a subscriber, of a closed loop of QoS 1. */
export function publishing(
  start: StartMqttSide,
  { payload, valuesPerWrite = 1, isWatched = false }: PublishSetup,
): (session: Session) => Promise<Contestant> {
  return async session => {
    const side = await start(session)
    const writes = { ...ofOneThing(session, side.peer.port), ...side.login(0), payload }
    const subscription = {
      ...watching(side.peer.port),
      ...side.login(0),
      filter: side.filter(0),
      qos: 1 as const,
    }
    return {
      turn: async () => {
        const subscriber = isWatched ? await subscribe(subscription) : undefined
        const turn = await measure(subscriber)
        await subscriber?.close()
        return turn
      },
      peer: side.peer,
      stop: () => side.peer.stop(),
    }

    async function measure(subscriber: Subscriber | undefined): Promise<Turn> {
      const deliveries = countDeliveries(subscriber)
      const { result, cores } = await watch(
        side.peer,
        marks => writeMqtt(writes, phases(session), marks),
        deliveries.read,
      )
      const values = result.done * valuesPerWrite
      const delivered = subscriber ? deliveries.counted() : values
      await subscriber?.drained()
      await settled(side.peer)
      return { figure: Math.min(values, delivered) / result.seconds, cores }
    }
  }
}

/** Messages a second that a subscriber gets of a hundred publishers of QoS 0, each a thing. */
export function delivering(start: StartMqttSide, payload: string): (session: Session) => Promise<Contestant> {
  return async session => {
    const side = await start(session)
    const topics = Array.from({ length: publishers }, (_, place) => writeTopic(session, place))
    const writes: MqttWrites = {
      ...to(side.peer.port),
      connections: publishers,
      topics,
      payload,
      qos: 0,
      window: publishersWindow,
    }
    return {
      turn: async () => {
        const subscriber = await subscribe({
          ...watching(side.peer.port),
          ...side.watcher,
          filter: side.filterOfAll,
          qos: 0,
        })
        const deliveries = countDeliveries(subscriber)
        const { result, cores } = await watch(
          side.peer,
          marks => writeMqtt(writes, phases(session), marks),
          deliveries.read,
        )
        const sent = Math.round(result.done / result.seconds)
        await subscriber.drained()
        await subscriber.close()
        await settled(side.peer)
        return { figure: deliveries.counted() / result.seconds, cores, note: `${sent} sent/s` }
      },
      peer: side.peer,
      stop: () => side.peer.stop(),
    }
  }
}

/** 99th percentile from when a write is due to its ack, milliseconds, at so many writes a second. */
export function acking(
  start: StartMqttSide,
  { payload, rate }: { readonly payload: string; readonly rate: number },
): (session: Session) => Promise<Contestant> {
  return async session => {
    const side = await start(session)
    const writes = {
      ...ofOneThing(session, side.peer.port),
      ...side.login(0),
      payload,
      rate,
      // An open loop: what waits is bounded by time, not by this.
      window: 10_000,
    }
    return {
      turn: async () => {
        const { result, cores } = await watch(side.peer, marks => writeMqtt(writes, phases(session), marks))
        await settled(side.peer)
        const late = ((result.lateness?.p99 ?? Number.NaN) / 1_000).toFixed(2)
        return {
          figure: (result.latency?.p99 ?? Number.NaN) / 1_000,
          cores,
          note: `generator late ${late} ms`,
        }
      },
      peer: side.peer,
      stop: () => side.peer.stop(),
    }
  }
}

export function phases({ seconds, warmUp }: Session) {
  return { warmUp, measured: seconds }
}

/** Everything about publishes to the first thing that does not differ from measure to measure. */
export function ofOneThing(session: Session, port: number) {
  const { connections, window } = session
  return { ...to(port), connections, topics: [writeTopic(session, 0)], qos: 1 as const, window }
}

function to(port: number) {
  return { host, ports: [port], clientIdPrefix: 'writer-' }
}

function watching(port: number) {
  return { host, port, clientIdPrefix: 'subscriber-', count: 1 }
}

/** The subscriber's processor time at both ends of the measured stretch, and what it got between them. */
export function countDeliveries(subscriber: Subscriber | undefined) {
  const received: number[] = []
  return {
    read: async () => {
      if (!subscriber) return {}
      received.push(await subscriber.received())
      return { subscriber: await subscriber.processorTime() }
    },
    counted: () => (received.at(-1) ?? 0) - (received[0] ?? 0),
  }
}
