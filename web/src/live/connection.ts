import { type ReadonlySignal, signal } from '@preact/signals'
import mqtt from 'mqtt'
import { addressOf } from '../api/address.ts'
import { serverTime } from '../time/clock.ts'
import { openWebSocket } from './open-web-socket.ts'
import { matchesFilter } from './topic-filter.ts'

/** @param payload parsed JSON; undefined if it was empty: what the topic held was deleted */
type OnMessage = (topic: string, payload: unknown, isRetained: boolean) => void

export interface LiveState {
  readonly kind: 'connecting' | 'connected' | 'lost'
  /** Milliseconds since the epoch: when it became so. */
  readonly since: number
}

/** One MQTT connection over WebSocket for the whole page. It comes back by itself, for as long as it is not closed. */
export interface LiveConnection {
  readonly state: ReadonlySignal<LiveState>
  /**
   * Messages of a filter at QoS 1: what is retained, then what is live, and what is retained again after the connection
   * was lost. Who subscribes to a filter that is subscribed to already makes the retained messages come once more, for
   * all its subscribers.
   *
   * @returns unsubscribes
   */
  subscribe(filter: string, onMessage: OnMessage): () => void
  close(): void
}

/** Milliseconds. The first leaves time to learn that it is the credential that has ended. */
const firstReconnect = 1_000
const lastReconnect = 5_000

/** CONNACK return codes (MQTT 3.1.1, 3.2.2.3). */
const refusals: readonly unknown[] = [4, 5]

/** @param onDoubt called when the credential may have ended: it was refused, or a connection was closed on us */
export function connectLive(credential: string, onDoubt: () => void): LiveConnection {
  const state = signal<LiveState>({ kind: 'connecting', since: serverTime() })
  const subscribers = new Map<string, Set<OnMessage>>()
  const toSubscribe = new Set<string>()
  const client = mqtt.connect(addressOf('/mqtt').replace(/^http/, 'ws'), {
    protocolVersion: 4,
    clientId: `dashboard-${crypto.getRandomValues(new Uint32Array(2)).join('-')}`,
    // MQTT 3.1.1 has no password without a user name (MQTT-3.1.2-22); the server goes by the password.
    username: 'dashboard',
    password: credential,
    keepalive: 20,
    connectTimeout: 10_000,
    reconnectPeriod: firstReconnect,
    reconnectOnConnackError: true,
    resubscribe: false,
    createWebsocket: openWebSocket,
    // Otherwise mqtt.js starts a worker from a blob: address, which a strict Content-Security-Policy forbids.
    timerVariant: 'native',
  })

  client.on('connect', () => {
    client.options.reconnectPeriod = firstReconnect
    state.value = { kind: 'connected', since: serverTime() }
    for (const filter of subscribers.keys()) subscribeSoon(filter)
  })
  client.on('close', () => {
    const period = client.options.reconnectPeriod ?? firstReconnect
    client.options.reconnectPeriod = Math.min(2 * period, lastReconnect)
    if (state.value.kind === 'connected') onDoubt()
    if (state.value.kind !== 'lost') state.value = { kind: 'lost', since: serverTime() }
  })
  client.on('error', error => {
    if ('code' in error && refusals.includes(error.code)) onDoubt()
  })
  client.on('message', (topic, payload, { retain }) => {
    const message = payload.length === 0 ? undefined : (JSON.parse(payload.toString()) as unknown)
    for (const [filter, onMessages] of subscribers) {
      if (!matchesFilter(filter, topic)) continue
      for (const onMessage of onMessages) onMessage(topic, message, retain)
    }
  })

  /** Once for all the components that are shown together. */
  function subscribeSoon(filter: string): void {
    if (toSubscribe.size === 0) queueMicrotask(subscribeNow)
    toSubscribe.add(filter)
  }

  function subscribeNow(): void {
    const filters = [...toSubscribe].filter(filter => subscribers.has(filter))
    toSubscribe.clear()
    if (client.connected && filters.length > 0) client.subscribe(filters, { qos: 1 })
  }

  return {
    state,
    subscribe(filter, onMessage) {
      const onMessages = subscribers.get(filter) ?? new Set()
      subscribers.set(filter, onMessages.add(onMessage))
      subscribeSoon(filter)
      return () => {
        onMessages.delete(onMessage)
        if (onMessages.size > 0 || subscribers.get(filter) !== onMessages) return
        subscribers.delete(filter)
        if (client.connected) client.unsubscribe(filter)
      }
    },
    close() {
      subscribers.clear()
      const end = () => client.end(true)
      if (state.value.kind !== 'connecting') return end()
      // Browsers complain about a WebSocket that is closed while it is being opened.
      client.once('connect', end)
      client.once('close', end)
    },
  }
}
