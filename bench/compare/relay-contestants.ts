import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ask, type Thing } from '../../test/helpers/http-client.ts'
import { connectAccepted } from '../../test/helpers/mqtt-client.ts'
import { type Subscriber, subscribe } from '../load/mqtt-subscribers.ts'
import { type MqttWrites, writeMqtt } from '../load/mqtt-writers.ts'
import { startBareAedes } from '../peers/bare-aedes.ts'
import { startMosquitto } from '../peers/mosquitto.ts'
import { host, type Peer } from '../peers/peer.ts'
import { startProductOn } from '../peers/product.ts'
import type { Contestant, Session, Turn } from './comparison.ts'
import { countDeliveries, phases } from './mqtt-contestants.ts'
import { settled, watch } from './usage.ts'

/** Something that relays messages on `tele/#`, and who may publish and subscribe there. */
export interface RelaySide {
  readonly peer: Peer
  readonly publisher: { readonly username?: string }
  readonly subscriber: { readonly username?: string }
}

export type StartRelaySide = (session: Session) => Promise<RelaySide>

const filter = 'tele/#'

/** On an empty store: a build that knows only an older format of the filled one can be measured, too. */
export async function startRelayingProduct(session: Session): Promise<RelaySide> {
  const dataDir = await mkdtemp(join(session.directory, 'relay-'))
  const environment = { ...session.environment, THINGWIRE_TOPICS: filter }
  const product = await startProductOn(dataDir, { ...session, environment })
  const thingThat = async (access: 'read' | 'write') => {
    const body = { topics: [{ filter, access }] }
    const { thingToken } = await ask<Thing>(product.server, 'POST', '/v2/admin/things', body)
    return { username: thingToken }
  }
  const stop = async () => {
    await product.stop()
    await rm(dataDir, { recursive: true })
  }
  return {
    peer: { ...product, stop },
    publisher: await thingThat('write'),
    subscriber: await thingThat('read'),
  }
}

export const startRelayingAedes: StartRelaySide = async () => open(await startBareAedes())

export const startRelayingMosquitto: StartRelaySide = async () => open(await startMosquitto())

function open(peer: Peer): RelaySide {
  return { peer, publisher: {}, subscriber: {} }
}

/** Messages a second of QoS 1 that are acked, and that each of some subscribers of QoS 1 gets. */
export function relaying(
  start: StartRelaySide,
  payload: string,
  subscribers: number,
): (session: Session) => Promise<Contestant> {
  return async session => {
    const { peer, ...side } = await start(session)
    const subscription = {
      ...{ host, port: peer.port, clientIdPrefix: 'subscriber-', ...side.subscriber },
      ...{ filter, qos: 1 as const, count: subscribers },
    }
    const writes = messagesTo(peer, session, side.publisher, payload)
    return {
      turn: async () => {
        const subscriber = await subscribe(subscription)
        const turn = await measure(subscriber)
        await subscriber.close()
        return turn
      },
      peer,
      stop: () => peer.stop(),
    }

    async function measure(subscriber: Subscriber): Promise<Turn> {
      const deliveries = countDeliveries(subscriber)
      const { result, cores } = await watch(
        peer,
        marks => writeMqtt(writes, phases(session), marks),
        deliveries.read,
      )
      await subscriber.drained()
      await settled(peer)
      const delivered = deliveries.counted() / subscribers
      return { figure: Math.min(result.done, delivered) / result.seconds, cores }
    }
  }
}

/** Messages a second of QoS 1 that are acked while a persistent session is away that wants them: a new one each turn. */
export function keeping(start: StartRelaySide, payload: string): (session: Session) => Promise<Contestant> {
  return async session => {
    const { peer, ...side } = await start(session)
    const writes = messagesTo(peer, session, side.publisher, payload)
    const away = { url: `mqtt://${host}:${peer.port}`, clientId: 'away', ...side.subscriber }
    return {
      turn: async () => {
        const leaving = await connectAccepted({ ...away, clean: false })
        await leaving.subscribe(filter, 1)
        await leaving.takeLeave()
        const { result, cores } = await watch(peer, marks => writeMqtt(writes, phases(session), marks))
        const ending = await connectAccepted({ ...away, clean: true })
        await ending.takeLeave()
        await settled(peer)
        return { figure: result.done / result.seconds, cores }
      },
      peer,
      stop: () => peer.stop(),
    }
  }
}

function messagesTo(
  { port }: Peer,
  { connections, window }: Session,
  publisher: RelaySide['publisher'],
  payload: string,
): MqttWrites {
  const topics = Array.from({ length: connections }, (_, place) => `tele/d${place}/STATE`)
  return {
    ...{ host, ports: [port], clientIdPrefix: 'publisher-', ...publisher },
    ...{ connections, topics, payload, qos: 1, window },
  }
}
