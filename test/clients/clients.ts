import type { LiveClient, Publish } from './client.ts'
import { mosquittoPub, mosquittoSub } from './mosquitto.ts'
import { mqttJs, publishByMqttJs } from './mqtt-js.ts'
import { paho, publishByPaho } from './paho.ts'
import { streamDashboard } from './websocket-stream.ts'

/** Every subscriber of these tests; all of them are held to the same. */
export const liveClients: readonly LiveClient[] = [
  mosquittoSub('mqttv31'),
  mosquittoSub('mqttv311'),
  mqttJs('TCP'),
  mqttJs('WebSocket'),
  streamDashboard('mqttv3.1'),
  streamDashboard('mqtt'),
  paho('tcp'),
  paho('websockets'),
]

/** Both sides of one client program or library. */
export interface ClientDriver {
  readonly name: 'mosquitto' | 'paho' | 'mqtt.js'
  readonly subscribe: LiveClient['subscribe']
  readonly publish: Publish
}

export const clientDrivers: readonly ClientDriver[] = [
  { name: 'mosquitto', publish: mosquittoPub, subscribe: mosquittoSub('mqttv311').subscribe },
  { name: 'paho', publish: publishByPaho, subscribe: paho('tcp').subscribe },
  { name: 'mqtt.js', publish: publishByMqttJs, subscribe: mqttJs('TCP').subscribe },
]
