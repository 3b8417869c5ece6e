import type { Snippet } from '../snippet.ts'

export const node: Snippet = {
  name: 'Node',
  needs: 'npm install mqtt; save as write.mjs.',
  delivery:
    'QoS 1: mqtt keeps the reading, connects again when the connection breaks, and sends the reading again. The program takes a reading every 10 seconds, and no new one until the answer comes. The answer comes when the server has stored the write, or has refused it for good. In MQTT 5 the answer has the reason of a refusal, and the program prints it. The reading has a datetime: if it is sent twice, the server stores it once.',
  tls: 'Write mqtts:// in place of mqtt://.',
  text: ({ host, mqttPort, token }) => `import { setTimeout as sleep } from 'node:timers/promises'
import mqtt from 'mqtt'

const token = '${token}'
// Connects, and again whenever the connection breaks or the server cannot take it yet.
const client = mqtt.connect('mqtt://${host}:${mqttPort}', {
  protocolVersion: 5,
  username: token,
  reconnectOnConnackError: true,
})
client.on('error', error => {
  console.error(\`no connection: \${error.message || error.code}\`)
  // The server does not know the token.
  if ([0x86, 0x87, 0x9f].includes(error.code)) process.exit(1)
})

/** Resolves when the server has stored the write, or has refused it for good. */
function send(write) {
  return new Promise(resolve => {
    // Without the connection mqtt makes a new one.
    const late = setInterval(() => client.stream.destroy(), 30_000)
    // On each connection, until the answer.
    client.publish(\`things/\${token}/write\`, JSON.stringify(write), { qos: 1 }, (error, answer) => {
      clearInterval(late)
      console.log(error ? \`refused: \${answer?.properties?.reasonString ?? error.message}\` : 'stored')
      resolve()
    })
  })
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
