import { expect, it } from 'vitest'
import { createThing, type Thing } from '../helpers/http-client.ts'
import { startServer } from '../helpers/server-process.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { connectMqttJs } from './mqtt-js.ts'
import { pahoDevice } from './paho.ts'
import { Program } from './program.ts'
import { bodies, valuesOnceStored, valuesTo } from './stored.ts'

const mosquittoPub = { command: 'mosquitto_pub', debianPackage: 'mosquitto-clients' }
/** Of a thing, a second; as many as it has to wait two keep-alives for. */
const rate = 200
const keepAlive = 5
const writes = rate * keepAlive * 2 + 1_000

/** Contract §9: what the server leaves unread because of a limit of its own never counts against the client. */
it('mqtt.js, paho and mosquitto_pub stay connected while their writes wait for their rate', async () => {
  const server = await startServer({
    dataDir: await temporaryDirectory(),
    environment: { THINGWIRE_WRITES_PER_SECOND: String(rate), THINGWIRE_LOG_LEVEL: 'debug' },
  })
  const [first, second, third] = [
    await createThing(server),
    await createThing(server),
    await createThing(server),
  ]
  const { hostname, port } = new URL(server.mqttUrl)
  const topic = ({ thingToken }: Thing) => `things/${thingToken}/write`
  const lines = bodies('n', writes)

  const { client } = await connectMqttJs(server, 'TCP', { keepalive: keepAlive })
  const mqttJs = Promise.all(lines.map(text => client.publishAsync(topic(first), text, { qos: 1 })))
  const paho = await pahoDevice({ server, transport: 'tcp', qos: 1, topic: topic(second), keepAlive }, lines)
  const args = ['-h', hostname, '-p', port, '-k', String(keepAlive), '-q', '1', '-t', topic(third), '-l']
  const mosquitto = new Program(mosquittoPub, args, `${lines.join('\n')}\n`)

  for (const thing of [first, second, third])
    expect(await valuesOnceStored(server, thing, 'n', writes)).toEqual(valuesTo(writes))
  await mqttJs
  expect(await paho.exited).toMatchObject({ code: 0, output: 'done\n' })
  mosquitto.closeInput()
  const { stderr } = await server.stop()
  expect(stderr.match(/"MQTT connection"/g)).toHaveLength(3)
})
