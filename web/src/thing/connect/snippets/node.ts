import type { Snippet } from '../snippet.ts'

export const node: Snippet = {
  name: 'Node',
  needs: 'npm install mqtt; save as write.mjs.',
  delivery:
    'QoS 1: if the connection breaks, mqtt.js connects and sends the reading again. The answer comes when the server has stored the write, or has refused it for good. The thing’s page shows a refusal and its reason. The reading has a datetime: if it is sent twice, the server stores it once.',
  tls: 'Write mqtts:// in place of mqtt://.',
  text: ({ host, mqttPort, token }) => `import mqtt from 'mqtt'

const token = '${token}'
const client = await mqtt
  .connectAsync('mqtt://${host}:${mqttPort}', { username: token })
  .catch(error => {
    console.error(\`no connection: \${error.message || error.code}\`)
    process.exit(1)
  })

const reading = { key: 'temperature', value: 21.5, datetime: new Date().toISOString() }
await client.publishAsync(\`things/\${token}/write\`, JSON.stringify({ values: [reading] }), { qos: 1 })
console.log("received: if it was refused, the thing's page says why")
await client.endAsync()
`,
}
