import type { IPublishPacket } from 'mqtt-packet'
import { within } from '../../test/helpers/waiting.ts'
import { LoadProcess } from './process.ts'

/** Loads of writes, from a process of their own over raw sockets, with packets that are made beforehand. */

interface Connections {
  readonly host: string
  /** Connection i goes to `ports[i % ports.length]`. */
  readonly ports: readonly number[]
  readonly connections: number
  /** Writes a second over all connections, at random times, whatever is acked. Absent: a closed loop. */
  readonly rate?: number
  /** Of an open loop: least milliseconds from one look at what is due to the next. Default 0, which takes a whole core. */
  readonly rest?: number
}

/** Of MQTT. The default, 4, is 3.1.1. */
export type Version = 4 | 5

export interface MqttWrites extends Connections {
  /** Of connection i the client id is `<prefix><i>`. */
  readonly clientIdPrefix: string
  readonly username?: string
  readonly password?: string
  /**
   * Dealt to the connections in turn: one publishes to its topics in turn, which are equally long. With fewer topics than connections,
   * connection i publishes to `topics[i % topics.length]`.
   */
  readonly topics: readonly string[]
  readonly payload: string
  readonly qos: 0 | 1
  readonly version?: Version
  /** Of version 5, of each publish. */
  readonly properties?: NonNullable<IPublishPacket['properties']>
  /** Of version 5, with one topic a connection: all publishes but the first have an alias in its place. */
  readonly isAliased?: boolean
  /**
   * Publishes on their way, per connection, 1..65,535. A closed loop keeps it at that; in an open one what is due beyond it
   * waits. At QoS 0 a PINGREQ behind each half of it tells when the server has read them: without a bound the buffers of the
   * kernel would hold millions.
   */
  readonly window: number
}

/** POST of JSON, answered with 201, over HTTP/1.1 connections that are kept, each with one request at a time on its way. */
export interface HttpWrites extends Connections {
  /** Connection i posts to `paths[i % paths.length]`. */
  readonly paths: readonly string[]
  readonly body: string
}

export type Writes = MqttWrites | HttpWrites

export interface Phases {
  /** From the first write on, before anything is measured, seconds. */
  readonly warmUp: number
  /** Seconds. */
  readonly measured: number
  /** Ends the measured stretch when so many writes were acked in it; `measured` is its deadline then. */
  readonly acks?: number
}

/** Called as the measured stretch begins and ends, for the figures of whatever is driven. */
export interface Marks {
  readonly onBegin: () => void | Promise<void>
  readonly onEnd: () => void | Promise<void>
}

/** Milliseconds. */
export type Latency = Readonly<Record<'p50' | 'p99' | 'max', number>>

export interface LoadResult {
  /** Writes acked in the measured stretch; at QoS 0 those that the server has read. */
  readonly done: number
  /** How long the measured stretch was. */
  readonly seconds: number
  /** Of the generator in the measured stretch, microseconds. */
  readonly processorTime: number
  /** Writes acked from the first to the last, those of the warm-up and of the end included. */
  readonly total: number
  /** Writes that were sent, and not acked by the deadline of the end. */
  readonly unacked: number
  /** From when a write was due to its ack, of those due in the measured stretch. Absent in a closed loop. */
  readonly latency?: Latency
  /** From when a write was due, and could have been sent, until it was: the delay of the generator itself. */
  readonly lateness?: Latency
}

/** What is read as the measured stretch begins, and as it ends. */
export function readings<Value>(read: () => Value | Promise<Value>) {
  const values: Value[] = []
  const note = async () => void values.push(await read())
  return { values, marks: { onBegin: note, onEnd: note } satisfies Marks }
}

const program = new URL('writers-child.ts', import.meta.url)
const noMarks: Marks = { onBegin: () => {}, onEnd: () => {} }

/**
 * Writes from the first connection to the last ack.
 *
 * @throws Error if a connection is refused or closed, or anything but the expected acks or answers is received
 */
export async function runWrites(writes: Writes, phases: Phases, marks = noMarks): Promise<LoadResult> {
  const { warmUp, measured, acks } = phases
  const load = new LoadProcess(program)
  try {
    await load.ask('connect', writes)
    await load.ask('start')
    await load.wait(warmUp)
    await Promise.all([load.ask('begin'), marks.onBegin()])
    if (acks === undefined) await load.wait(measured)
    else await within(load.ask('untilAcked', acks), `${acks} acks`, measured * 1_000)
    await Promise.all([load.ask('end'), marks.onEnd()])
    return await load.ask<LoadResult>('finish')
  } finally {
    await load.stop()
  }
}

/** Writes that go on, all measured, until they are stopped. */
export interface Writing {
  /** Resolves when all is acked. @throws Error as of `runWrites` */
  stop(): Promise<LoadResult>
  /** Breaks the connections off, whatever waits for an ack. */
  abort(): Promise<void>
}

/** @throws Error if a connection is refused */
export async function startWriting(writes: Writes): Promise<Writing> {
  const load = new LoadProcess(program)
  for (const [command, argument] of [['connect', writes], ['begin'], ['start']] as const) {
    await load.ask(command, argument)
  }
  return {
    stop: async () => {
      try {
        await load.ask('end')
        return await load.ask<LoadResult>('finish')
      } finally {
        await load.stop()
      }
    },
    abort: () => load.stop(),
  }
}

/** Of publishes of QoS 1 by things, one connection a thing, everything but the window: a value each, or another payload. */
export function ofThings(mqttUrl: string, tokens: readonly string[]) {
  return {
    host: '127.0.0.1',
    ports: [Number(new URL(mqttUrl).port)],
    connections: tokens.length,
    clientIdPrefix: 'writer-',
    topics: tokens.map(token => `things/${token}/write`),
    payload: '{"values":[{"key":"n","value":21.5}]}',
    qos: 1,
  } as const
}

/** The same as an open loop of so many writes a second, which leaves room for others: what is late waits. */
export function steadily(mqttUrl: string, tokens: readonly string[], rate: number): MqttWrites {
  return { ...ofThings(mqttUrl, tokens), rate, rest: 2, window: 10_000 }
}
