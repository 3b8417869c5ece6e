import type { LiveClient } from './client.ts'
import { mosquittoSub } from './mosquitto.ts'
import { mqttJs } from './mqtt-js.ts'
import { paho } from './paho.ts'
import { streamDashboard } from './websocket-stream.ts'

/** Every subscriber of these tests; all of them are held to the same. */
export const liveClients: readonly LiveClient[] = [
  mosquittoSub('mqttv31'),
  mosquittoSub('mqttv311'),
  mosquittoSub('mqttv5'),
  mqttJs('TCP'),
  mqttJs('WebSocket'),
  mqttJs('TCP', 5),
  mqttJs('WebSocket', 5),
  streamDashboard('mqttv3.1'),
  streamDashboard('mqtt'),
  paho('tcp'),
  paho('websockets'),
  paho('tcp', 5),
  paho('websockets', 5),
]
