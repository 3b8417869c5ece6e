import type { LiveClient } from './live-client.ts'
import { mosquittoSub } from './mosquitto-subscriber.ts'
import { mqttJs } from './mqtt-js-subscriber.ts'
import { paho } from './paho-subscriber.ts'
import { streamDashboard } from './stream-subscriber.ts'

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
