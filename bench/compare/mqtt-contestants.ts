import { thingOn } from '../kept/stage.ts'
import type { Subscription } from '../load/subscribers.ts'
import { type Marks, type MqttWrites, type Phases, runWrites } from '../load/writes.ts'
import { type StoringPeer, startBare, startMosquitto } from '../peers/brokers.ts'
import { host, type Peer } from '../peers/peer.ts'
import { startProduct } from '../peers/product.ts'
import type { Session, StartContestant, Turn } from './comparison.ts'
import { coresBetween, loaded, timesOf } from './loaded.ts'

/** Something that speaks MQTT, how to write to it and how to watch it. */
interface MqttSide {
  readonly peer: Peer
  /** Of the first thing, for its publishers and subscribers. Absent where nothing is checked. */
  readonly login: { readonly username?: string }
  /** Of somebody who may subscribe to every thing. */
  readonly watcher: { readonly username?: string; readonly password?: string }
  /** What a subscriber of the first thing subscribes to, and one of every thing: one message comes for each value. */
  readonly filter: string
  readonly filterOfAll: string
}

type Start = (session: Session) => Promise<MqttSide>

export const startProductSide: Start = async session => ({
  peer: await startProduct(session),
  login: { username: tokenOf(session, 0) },
  watcher: { username: 'operator', password: session.filled.adminKey },
  filter: `things/${tokenOf(session, 0)}/values/#`,
  filterOfAll: 'things/+/values/#',
})

/** Its topics are those that are no thing's, of which it only relays. */
export const startRelaySide: Start = async session => {
  const peer = await startProduct({ ...session, environment: { THINGWIRE_TOPICS: 'tele/#' } })
  const { thingToken: username } = await thingOn(peer.server)
  const filter = 'tele/#'
  return { peer, login: { username }, watcher: { username }, filter, filterOfAll: filter }
}

/** A broker that relays each message on the topic on which it is published, and checks nobody. */
function broker(start: () => Promise<Peer>): Start {
  return async session => ({
    peer: await start(),
    login: {},
    watcher: {},
    filter: writeTopic(session, 0),
    filterOfAll: 'things/+/write',
  })
}

export const startAedesSide = broker(() => startBare('aedes'))
export const startMosquittoSide = broker(startMosquitto)

/** Of the load, what is not as in `ofOneThing`. */
interface PublishSetup extends Partial<MqttWrites> {
  readonly payload: string
  readonly valuesPerWrite?: number
  /** Of a subscriber of what is written, what is not as usual: QoS 1, the filter of the side. Absent: there is none. */
  readonly subscription?: Partial<Subscription>
  /** Default: those of the session. */
  readonly length?: Phases
}

/** Values a second that are acked, and delivered if there is a subscriber, of a closed loop, as usual of QoS 1. */
export function publishing(
  start: Start,
  { valuesPerWrite = 1, subscription, length, ...own }: PublishSetup,
): StartContestant {
  return loaded(start, ({ peer, login, filter }, session) => ({
    load: marks =>
      runWrites({ ...ofOneThing(session, peer.port), ...login, ...own }, length ?? phases(session), marks),
    ...(subscription && {
      subscription: { ...watching(peer.port), ...login, filters: [filter], qos: 1, ...subscription },
    }),
    figure: ({ done, seconds }, delivered) => {
      const values = done * valuesPerWrite
      return { figure: Math.min(values, subscription ? delivered : values) / seconds }
    },
  }))
}

const publishers = 100
/**
 * Most publishes of QoS 0 that have not been read yet. A PINGREQ behind half of them asks whether they have: with fewer, the cost
 * of a ping would be a good part of what is measured.
 */
const publishersWindow = 100

/** Messages a second that a subscriber gets of a hundred publishers of QoS 0, each a thing. */
export function delivering(start: Start, payload: string): StartContestant {
  return loaded(start, ({ peer, watcher, filterOfAll: filter }, session) => {
    const topics = Array.from({ length: publishers }, (_, place) => writeTopic(session, place))
    const load = { connections: publishers, topics, payload, qos: 0, window: publishersWindow } as const
    return {
      load: writing({ ...to(peer.port), ...load }, session),
      subscription: { ...watching(peer.port), ...watcher, filters: [filter], qos: 0 },
      figure: ({ done, seconds }, delivered) => {
        return { figure: delivered / seconds, note: `${Math.round(done / seconds)} sent/s` }
      },
    }
  })
}

/** 99th percentile from when a write is due to its ack, milliseconds, at so many writes a second. */
export function acking(start: Start, payload: string, rate: number): StartContestant {
  return loaded(start, ({ peer, login }, session) => ({
    load: writing({ ...ofOneThing(session, peer.port), ...login, payload, rate, window: 10_000 }, session),
    figure: ({ latency, lateness }) => {
      return { figure: latency?.p99 ?? Number.NaN, note: `generator late ${lateness?.p99.toFixed(2)} ms` }
    },
  }))
}

/** Seconds that it may take to publish what is to be stored. */
const deadline = 60

/**
 * Rows a second of a relay and a subscriber that stores: from the first publish until the last row is committed. mosquitto acks a
 * publish before anything is stored, so its acks say nothing; it queues what is not stored yet.
 *
 * @param messages to be stored for each second of a stretch: about as many as are stored in one
 */
export function storing(
  start: (parent: string) => Promise<StoringPeer>,
  payload: string,
  messages: number,
): StartContestant {
  return async session => {
    const peer = await start(session.directory)
    const writes = { ...ofOneThing(session, peer.port), payload }
    const drain = async (seconds: number): Promise<Turn> => {
      const storedBefore = peer.stored()
      const timesBefore = timesOf(peer)
      let begin = performance.now()
      const onBegin = () => {
        begin = performance.now()
      }
      const phases = { warmUp: 0, measured: deadline, acks: messages * seconds }
      const { total } = await runWrites(writes, phases, { onBegin, onEnd: () => {} })
      await peer.untilStored(storedBefore + total)
      const elapsed = (performance.now() - begin) / 1_000
      const cores = coresBetween(timesBefore, timesOf(peer), elapsed)
      return { figure: total / elapsed, cores, note: `${total.toLocaleString('en')} rows` }
    }
    return {
      turn: async () => {
        await drain(session.warmUp)
        return await drain(session.seconds)
      },
      stop: () => peer.stop(),
    }
  }
}

export function phases({ seconds, warmUp }: Session) {
  return { warmUp, measured: seconds }
}

/** Of publishes to the first thing, everything that does not differ from measure to measure. */
export function ofOneThing(session: Session, port: number) {
  return { ...to(port), connections: 10, topics: [writeTopic(session, 0)], qos: 1 as const, window: 100 }
}

export function tokenOf({ filled }: Session, place: number): string {
  return filled.things[place]?.thingToken ?? ''
}

function writing(writes: MqttWrites, session: Session) {
  return (marks: Marks) => runWrites(writes, phases(session), marks)
}

function writeTopic(session: Session, place: number): string {
  return `things/${tokenOf(session, place)}/write`
}

function to(port: number) {
  return { host, ports: [port], clientIdPrefix: 'writer-' }
}

function watching(port: number) {
  return { host, port, clientIdPrefix: 'subscriber-', count: 1 }
}
