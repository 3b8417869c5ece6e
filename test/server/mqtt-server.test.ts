import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { pino } from 'pino'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createToken } from '../../src/core/token.ts'
import { openHttpDoor } from '../../src/server/http/http-door.ts'
import { openMqttServer } from '../../src/server/mqtt-server.ts'
import { completeOptions } from '../../src/server/options/load-options.ts'
import { createLevelStore } from '../../src/store/level/index.ts'
import { openThings } from '../../src/things.ts'
import { createThing, readAll, type Thing } from '../helpers/http-client.ts'
import {
  connectMqtt,
  encodePackets,
  isOf,
  type MqttClient,
  openMqtt,
  publishPacket,
} from '../helpers/mqtt-client.ts'
import { serverOfTest } from '../helpers/of-test.ts'
import { runCli, type ServerProcess, type ServerSetup } from '../helpers/server-process.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

const doors = ['mqttUrl', 'webSocketUrl'] as const

/** A server that is killed, if it still runs, when the test is over. */
async function start(setup?: Partial<ServerSetup>): Promise<ServerProcess> {
  return await serverOfTest({ dataDir: join(await temporaryDirectory(), 'data'), ...setup })
}

describe('openMqttServer()', () => {
  it('names the option of a port in use', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    onTestFinished(() => void other.close())
    const { port } = other.address() as { port: number }
    const { code, stdout, stderr } = await runCli({
      args: ['--data-dir', await temporaryDirectory(), '--http-port', '0', '--mqtt-port', `${port}`],
    })
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(
      new RegExp(`^thingwire: port ${port} [^\\n]*in use[^\\n]* --mqtt-port [^\\n]*\\n$`),
    )
  })

  it('is asked by /readyz whether it listens', async () => {
    const options = completeOptions({ httpPort: 0, mqttPort: 0 })
    const location = await temporaryDirectory()
    const things = await openThings({ store: createLevelStore({ location }), adminKey: createToken() })
    const log = pino({ level: 'silent' })
    const { signal } = new AbortController()
    const mqtt = await openMqttServer(things, options, log, signal)
    const http = await openHttpDoor(things, mqtt, options, log, signal)
    const ready = async () => (await fetch(`${http.url}/readyz`)).status
    expect(await ready()).toBe(200)
    await mqtt.close()
    expect(await ready()).toBe(503)
    await http.close()
    await things.close()
  })
})

describe.each(doors)('a SIGTERM with clients at %s', door => {
  it('ends idle ones, and those that never said who they are, with exit status 0', async () => {
    const server = await start()
    const thing = await createThing(server)
    const url = server[door]
    const clients = [
      await connectMqtt({ url, username: thing.thingToken }),
      await connectMqtt({ url, username: thing.thingToken, clean: false, clientId: 'keeps-its-session' }),
      await connectMqtt({ url }),
      await openMqtt({ url }),
      await openMqtt({ url }),
    ]
    // A part of a CONNECT.
    clients.at(-1)?.sendBytes(Buffer.from([0x10, 0x7f, 0x00, 0x04, 0x4d]))
    const exit = await server.stop()
    expect(exit).toMatchObject({ code: 0, signal: null })
    expect(exit.stderr).not.toMatch(/cutting|"level":[56]0/)
    await Promise.all(clients.map(client => client.closed))
  })

  it.each([0, 1, 2] as const)(
    'ends one that floods at QoS %i with exit status 0, and keeps what it acked',
    async qos => {
      const dataDir = join(await temporaryDirectory(), 'data')
      const server = await start({ dataDir })
      const thing = await createThing(server)
      const client = await connectMqtt({ url: server[door], username: thing.thingToken })
      const flooding = flood(client, thing, qos)
      await client.next(isOf(({ 0: 'pingresp', 1: 'puback', 2: 'pubrec' } as const)[qos]))
      const exit = await server.stop()
      expect(exit).toMatchObject({ code: 0, signal: null })
      expect(exit.stderr).not.toMatch(/cutting|"level":[56]0/)
      await client.closed
      await flooding
      const acked = client.acknowledgements.map(acknowledgement => Number(acknowledgement.split(' ')[1]))
      const second = await start({ dataDir })
      const stored = new Set((await readAll(second, thing, 'n')).map(({ value }) => value))
      expect(acked.filter(id => !stored.has(id))).toEqual([])
    },
  )
})

describe('the log of the MQTT door', () => {
  it('holds no token, client id, topic or payload, whatever was sent', async () => {
    const server = await start({ args: ['--log-level', 'trace'] })
    const { mqttUrl: url, adminKey } = server
    const thing = await createThing(server)
    const secrets = [thing.thingToken, adminKey, 'the-client-id', 'the-topic', 'the-payload']
    const username = thing.thingToken
    const own = (rest: string) => `things/${thing.thingToken}/${rest}`
    const refused = await connectMqtt({ url, username: 'the-topic', password: 'the-payload' })
    expect(refused.connack.returnCode).toBe(4)
    for (const topic of [own('the-topic'), own('write'), 'the-topic', `things/${createToken()}/write`]) {
      const client = await connectMqtt({ url, username, clientId: `the-client-id-${thing.thingToken}` })
      client.send(publishPacket(topic, 'the-payload', { messageId: 1 }), { cmd: 'pingreq' })
      await client.next(packet => packet.cmd === 'pingresp').catch(() => {})
      await client.destroy()
    }
    for (const bytes of [
      [0xf0, 0x00],
      [0x82, 0x02, 0x00, 0x00],
      [0x30, 0x03, 0x00, 0x01, 0x00],
      [0x32, 0xff, 0xff, 0xff, 0xff],
    ]) {
      const client = await connectMqtt({
        url,
        username: 'admin',
        password: adminKey,
        clientId: 'the-client-id',
      })
      client.sendBytes(Buffer.from(bytes))
      await client.closed
    }
    const { stdout, stderr } = await server.stop()
    expect(stderr).toContain('MQTT connection interrupted')
    // Not a part of it either: the first characters are enough to tell one token from another.
    for (const secret of secrets) expect(stdout + stderr).not.toContain(secret.slice(0, 12))
  })
})

/** Publishes as fast as the server reads, until the connection is closed. */
async function flood(client: MqttClient, { thingToken }: Thing, qos: 0 | 1 | 2): Promise<void> {
  const { stream } = client
  client.send({ cmd: 'pingreq' })
  const topic = `things/${thingToken}/write`
  let messageId = 0
  const send = async () => {
    while (messageId < 65_535 && !stream.destroyed) {
      const body = { values: [{ key: 'n', value: ++messageId }] }
      if (qos === 2) await client.publish(topic, body, { qos, messageId })
      else if (stream.write(encodePackets(publishPacket(topic, body, { qos, messageId })))) continue
      else await Promise.race([once(stream, 'drain'), client.closed])
    }
  }
  // Nobody may have more QoS 2 publishes under way than a window.
  const senders = Array.from({ length: qos === 2 ? 100 : 1 }, send)
  await Promise.all(senders).catch(() => client.closed)
}
