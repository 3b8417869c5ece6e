import type { Snippet } from '../snippet.ts'

export const node: Snippet = {
  name: 'Node',
  needs: 'npm install mqtt; save as write.mjs.',
  delivery:
    'QoS 1: mqtt keeps the reading, connects again when the connection breaks, and sends the reading again. The program takes a reading every 10 seconds, and no new one until the answer comes. The answer comes when the server has stored the write, or has refused it for good. The thing’s page shows a refusal and its reason. The reading has a datetime: if it is sent twice, the server stores it once.',
  tls: 'Write mqtts:// in place of mqtt://.',
  text: ({ host, mqttPort, token }) => `import { setTimeout as sleep } from 'node:timers/promises'
import mqtt from 'mqtt'

const token = '${token}'
// Connects, and again whenever the connection breaks.
const client = mqtt.connect('mqtt://${host}:${mqttPort}', { username: token })
client.on('error', error => {
  console.error(\`no connection: \${error.message || error.code}\`)
  // The server does not know the token.
  if (error.code === 4 || error.code === 5) process.exit(1)
})

/** Resolves when the server has stored the write, or has refused it for good. */
async function send(write) {
  // Without the connection mqtt makes a new one.
  const late = setInterval(() => client.stream.destroy(), 30_000)
  // On each connection, until the answer.
  await client.publishAsync(\`things/\${token}/write\`, JSON.stringify(write), { qos: 1 })
  clearInterval(late)
  console.log("received: if it was refused, the thing's page says why")
}

for (;;) {
  const temperature = 21.5 // your sensor
  const datetime = new Date().toISOString()
  // A NaN would become null.
  if (Number.isFinite(temperature)) {
    await send({ values: [{ key: 'temperature', value: temperature, datetime }] })
  }
  await sleep(10_000)
}
`,
}
