import type { ClientDriver } from './client-driver.ts'
import { mosquittoPub } from './mosquitto-publisher.ts'
import { mosquittoSub } from './mosquitto-subscriber.ts'
import { publishByMqttJs } from './mqtt-js-publisher.ts'
import { mqttJs } from './mqtt-js-subscriber.ts'
import { publishByPaho } from './paho-publisher.ts'
import { paho } from './paho-subscriber.ts'

export const clientDrivers: readonly ClientDriver[] = [
  { name: 'mosquitto', publish: mosquittoPub, subscribe: mosquittoSub('mqttv311').subscribe },
  { name: 'paho', publish: publishByPaho, subscribe: paho('tcp').subscribe },
  { name: 'mqtt.js', publish: publishByMqttJs, subscribe: mqttJs('TCP').subscribe },
]
