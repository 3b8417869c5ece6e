import type { Socket } from 'node:net'
import type { Credential } from '../client/credential.ts'
import { type Finding, fault, ok } from './finding.ts'
import { stepTimeout } from './network.ts'

/** What each return code of CONNACK means here [MQTT-3.2.2.3]. */
const advices: Readonly<Record<number, readonly [text: string, advice: string]>> = {
  1: ['the protocol version is refused', 'is this a Thingwire server? Thingwire takes MQTT 3.1 and 3.1.1'],
  2: ['the client id is refused', 'is this a Thingwire server? Thingwire takes an empty client id'],
  3: ['the server is stopping, or its store is away', 'look at the log of the server and at /readyz'],
  5: [
    'not allowed',
    'too many failed attempts from this address: stop the device with the wrong token, and wait a minute',
  ],
}

/** Says CONNECT with the credential as password, as a device does, and reads what CONNACK says. */
export async function checkMqttConnect(socket: Socket, credential: Credential): Promise<Finding> {
  // Loaded where it is needed: other commands do without.
  const { default: mqttPacket } = await import('mqtt-packet')
  const connect = mqttPacket.generate({
    cmd: 'connect',
    protocolId: 'MQTT',
    protocolVersion: 4,
    clean: true,
    clientId: '',
    keepalive: 30,
    username: 'thingwire-doctor',
    password: Buffer.from(credential.text),
  })
  socket.write(connect)
  const answer = await firstBytes(socket, 4)
  socket.destroy()
  if (answer.length < 4 || answer[0] !== 0x20) {
    const advice = 'is this the MQTT port? The HTTP port takes MQTT only over WebSocket, at /mqtt'
    return fault('MQTT credential', 'CONNECT got no CONNACK', advice)
  }
  const code = answer[3] ?? 0
  if (code === 0) return ok('MQTT credential', 'CONNECT is accepted')
  // A bad user name or password.
  if (code === 4)
    return fault('MQTT credential', 'CONNECT is refused: the credential is unknown', credential.ifUnknown)
  const [text, advice] = advices[code] ?? [`return code ${code}`, 'is this a Thingwire server?']
  return fault('MQTT credential', `CONNECT is refused: ${text}`, advice)
}

/** Fewer if the connection ends or is silent. */
async function firstBytes(socket: Socket, count: number): Promise<Buffer> {
  let received = Buffer.alloc(0)
  return await new Promise(resolve => {
    const timer = setTimeout(() => resolve(received), stepTimeout)
    const end = () => {
      clearTimeout(timer)
      resolve(received)
    }
    socket.on('data', (bytes: Buffer) => {
      received = Buffer.concat([received, bytes])
      if (received.length >= count) end()
    })
    socket.once('close', end)
  })
}
