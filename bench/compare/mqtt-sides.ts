import { startBareAedes } from '../peers/bare-aedes.ts'
import { startMosquitto } from '../peers/mosquitto.ts'
import type { Peer } from '../peers/peer.ts'
import { startProduct } from '../peers/product.ts'
import type { Session } from './comparison.ts'

/** Something that speaks MQTT, and how to write to it and watch it. */
export interface MqttSide {
  readonly peer: Peer
  /** Of the thing at a place, for its publishers and subscribers. Absent where nothing is checked. */
  login(place: number): { readonly username?: string }
  /** Of somebody who may subscribe to every thing. */
  readonly watcher: { readonly username?: string; readonly password?: string }
  /** What a subscriber of one thing subscribes to: one message comes for each value. */
  filter(place: number): string
  /** The same of every thing. */
  readonly filterOfAll: string
}

export type StartMqttSide = (session: Session) => Promise<MqttSide>

export async function startProductSide(session: Session): Promise<MqttSide> {
  const { filled } = session
  return {
    peer: await startProduct(session),
    login: place => ({ username: tokenOf(filled, place) }),
    watcher: { username: 'operator', password: filled.adminKey },
    filter: place => `things/${tokenOf(filled, place)}/values/#`,
    filterOfAll: 'things/+/values/#',
  }
}

export const startAedesSide: StartMqttSide = async session => relay(await startBareAedes(), session)

export const startMosquittoSide: StartMqttSide = async session => relay(await startMosquitto(), session)

/** A broker that relays what is published on the same topics as it is. */
function relay(peer: Peer, session: Session): MqttSide {
  return {
    peer,
    login: () => ({}),
    watcher: {},
    filter: place => writeTopic(session, place),
    filterOfAll: 'things/+/write',
  }
}

export function writeTopic({ filled }: Session, place: number): string {
  return `things/${tokenOf(filled, place)}/write`
}

export function tokenOf(filled: Session['filled'], place: number): string {
  return filled.things[place]?.thingToken ?? ''
}
