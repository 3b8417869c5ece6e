import { fileURLToPath } from 'node:url'
import type { ClientDriver } from './client-driver.ts'
import { python } from './paho-subscriber.ts'
import { Program } from './program.ts'

const script = fileURLToPath(new URL('paho_publisher.py', import.meta.url))

/** On one connection, each when the one before it is acknowledged. */
export const publishByPaho: ClientDriver['publish'] = async ({ mqttUrl }, token, messages) => {
  const { hostname, port } = new URL(mqttUrl)
  const input = messages.map(({ topic, payload, qos, retain = false }) => {
    return { topic, payload: Buffer.from(payload).toString('hex'), qos, retain }
  })
  const program = new Program(python, [script, hostname, port, token], JSON.stringify(input))
  const { code, output } = await program.closeInput().ended
  if (code !== 0) throw new Error(`paho ended with status ${code}: ${output}`)
}
