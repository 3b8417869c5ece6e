import type { Socket } from 'node:net'
import type { Credential } from '../client/credential.ts'
import { type Finding, fault, ok } from './finding.ts'
import { stepTimeout } from './network.ts'

/** Text and advice for return codes of CONNACK [MQTT-3.2.2.3]. */
const advices: Readonly<Record<number, readonly [text: string, advice: string]>> = {
  1: [
    'the protocol version is refused',
    'is this a Thingwire server? Thingwire accepts MQTT 3.1, 3.1.1 and 5',
  ],
  2: ['the client id is refused', 'is this a Thingwire server? Thingwire accepts an empty client id'],
  3: ['the server is stopping, or its store is unavailable', 'look at the log of the server and at /readyz'],
}

/** Sends CONNECT with the credential as password, like a device, and reads the CONNACK. */
export async function checkMqttConnect(socket: Socket, credential: Credential): Promise<Finding> {
  // mqtt-packet is loaded here, since other commands do not need it.
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
    const advice = 'is this the MQTT port? The HTTP port accepts MQTT only over WebSocket, at /mqtt'
    return fault('MQTT credential', 'CONNECT got no CONNACK', advice)
  }
  const code = answer[3] ?? 0
  if (code === 0) return ok('MQTT credential', 'CONNECT is accepted')
  // 4: bad user name or password. 5: the address has sent too many bad user names or passwords.
  if (code === 4 || code === 5) {
    const before = code === 5 ? ', as were too many others from this address in the last minute' : ''
    const text = `CONNECT is refused: the credential is unknown${before}`
    return fault('MQTT credential', text, credential.ifUnknown)
  }
  const [text, advice] = advices[code] ?? [`return code ${code}`, 'is this a Thingwire server?']
  return fault('MQTT credential', `CONNECT is refused: ${text}`, advice)
}

/** The first bytes that are received, at least `count`; fewer if the connection closes or stays silent. */
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
