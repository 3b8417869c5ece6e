import { type ReadonlySignal, signal } from '@preact/signals'
import mqtt from 'mqtt'
import { addressOf } from '../api/address.ts'
import { serverTime } from '../time/clock.ts'
import { openWebSocket } from './open-web-socket.ts'
import { matchesFilter } from './topic-filter.ts'

/** @param payload parsed JSON; undefined if it was empty, because the retained message was deleted */
type OnMessage = (topic: string, payload: unknown, isRetained: boolean) => void

export interface LiveState {
  readonly kind: 'connecting' | 'connected' | 'lost'
  /** When this state began, milliseconds since the epoch. */
  readonly since: number
}

/** The MQTT connection over WebSocket of the whole page. Reconnects until it is closed. */
export interface LiveConnection {
  readonly state: ReadonlySignal<LiveState>
  /**
   * Subscribes to a filter at QoS 1. Delivers retained messages, then live messages. After a lost connection, retained messages
   * are delivered again. If the filter already has a subscriber, all its subscribers get the retained messages again.
   *
   * @returns a function that unsubscribes
   */
  subscribe(filter: string, onMessage: OnMessage): () => void
  close(): void
}

/** Milliseconds. The first delay leaves time to find out whether the credential has become invalid. */
const firstReconnect = 1_000
const lastReconnect = 5_000

/** CONNACK reason codes for a refused credential: it is unknown, it may not connect, or its address has sent too many unknown ones. */
const refusals: readonly unknown[] = [0x86, 0x87, 0x9f]

/** @param onDoubt called when the credential may have become invalid: the server refused it or closed a connection */
export function connectLive(credential: string, onDoubt: () => void): LiveConnection {
  const state = signal<LiveState>({ kind: 'connecting', since: serverTime() })
  const subscribers = new Map<string, Set<OnMessage>>()
  const toSubscribe = new Set<string>()
  const client = mqtt.connect(addressOf('/mqtt').replace(/^http/, 'ws'), {
    protocolVersion: 5,
    clientId: `dashboard-${crypto.getRandomValues(new Uint32Array(2)).join('-')}`,
    // mqtt.js sends no password without a user name. The server checks only the password.
    username: 'dashboard',
    password: credential,
    keepalive: 20,
    connectTimeout: 10_000,
    reconnectPeriod: firstReconnect,
    reconnectOnConnackError: true,
    resubscribe: false,
    createWebsocket: openWebSocket,
    // The default timers run in a worker from a blob: address, which a strict Content-Security-Policy forbids.
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

  /** Sends one SUBSCRIBE for all components that are rendered together. */
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
      // Browsers report an error if a WebSocket is closed while it is being opened.
      client.once('connect', end)
      client.once('close', end)
    },
  }
}
