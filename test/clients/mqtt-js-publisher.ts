import { connectAsync } from 'mqtt'
import type { ClientDriver } from './client-driver.ts'

/** On one connection, all of them in flight at once. */
export const publishByMqttJs: ClientDriver['publish'] = async ({ mqttUrl }, token, messages) => {
  const client = await connectAsync(mqttUrl, { username: token, reconnectPeriod: 0 })
  const lost = new Promise<never>((_, reject) => {
    client.once('close', () => reject(new Error('mqtt.js lost the connection')))
  })
  const published = messages.map(({ topic, payload, qos, retain = false }) =>
    client.publishAsync(topic, payload, { qos, retain }),
  )
  await Promise.race([lost, Promise.all(published)])
  await client.endAsync()
}
