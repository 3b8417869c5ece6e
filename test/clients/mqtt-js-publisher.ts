import { connectAsync } from 'mqtt'
import type { ClientDriver } from './client-driver.ts'

/** On one connection, all of them in flight at once. */
export const publishByMqttJs: ClientDriver['publish'] = async ({ mqttUrl }, token, messages) => {
  const client = await connectAsync(mqttUrl, { username: token })
  await Promise.all(
    messages.map(({ topic, payload, qos, retain = false }) =>
      client.publishAsync(topic, payload, { qos, retain }),
    ),
  )
  await client.endAsync()
}
