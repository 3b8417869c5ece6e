import type { Snippet } from '../snippet.ts'

export const node: Snippet = {
  name: 'Node',
  needs: 'npm install mqtt; save as write.mjs.',
  delivery:
    'QoS 1: the program sends the reading again, each time on a new connection, until the answer comes. The answer comes when the server has stored the write, or has refused it for good. The thing’s page shows a refusal and its reason. The reading has a datetime: if it is sent twice, the server stores it once.',
  tls: 'Write mqtts:// in place of mqtt://.',
  text: ({ host, mqttPort, token }) => `import { setTimeout as sleep } from 'node:timers/promises'
import mqtt from 'mqtt'

const token = '${token}'
const reading = { key: 'temperature', value: 21.5, datetime: new Date().toISOString() }
const body = JSON.stringify({ values: [reading] })

/** One try: resolves when the server has answered. */
function send() {
  const client = mqtt.connect('mqtt://${host}:${mqttPort}', { username: token, reconnectPeriod: 0 })
  const answer = new Promise((resolve, reject) => {
    setTimeout(reject, 30_000, new Error('no answer in 30 s')).unref()
    client.on('error', reject)
    client.on('close', () => reject(new Error('it broke')))
    client.on('connect', () =>
      client.publish(\`things/\${token}/write\`, body, { qos: 1 }, error => (error ? reject(error) : resolve())),
    )
  })
  return answer.finally(() => client.end(true))
}

for (let wait = 1; ; wait = Math.min(2 * wait, 300)) {
  try {
    await send()
    break
  } catch (error) {
    console.error(\`no connection: \${error.message || error.code}\`)
    // The server does not know the token.
    if (error.code === 4 || error.code === 5) process.exit(1)
    await sleep(wait * 1000)
  }
}
console.log("received: if it was refused, the thing's page says why")
`,
}
