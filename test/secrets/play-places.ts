import { isOf, type MqttClient, openMqtt } from '../helpers/mqtt-client.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import type { Evidence } from './evidence.ts'
import { httpPlaces, malformedRequests } from './http-places.ts'
import { type MqttPlace, malformedPackets, mqttPlaces } from './mqtt-places.ts'
import { sendBytes, sendRequest } from './raw-http.ts'

/** The thing as which the places are played, so that they get past its credential. */
export interface Player {
  readonly thingId: string
  readonly token: string
}

/** Puts a secret into every place of both doors. What is answered must not hold it, though it is told to its owner. */
export async function playPlaces(
  server: ServerProcess,
  evidence: Evidence,
  secret: string,
  player: Player,
): Promise<void> {
  const take = async (name: string, telling: Promise<string | Buffer>) => {
    const told = await telling.catch((cause: unknown) => {
      throw new Error(`a secret ${name} was not played to the end`, { cause })
    })
    evidence.add('told', `what was answered to who has a secret ${name}`, told)
  }
  for (const [name, place] of httpPlaces) await take(name, sendRequest(server.url, place(secret, player)))
  for (const [name, bytes] of malformedRequests) await take(name, sendBytes(server.url, bytes(secret)))
  for (const [index, [name, place]] of mqttPlaces.entries()) {
    const client = await openMqtt({ url: index % 4 === 0 ? server.webSocketUrl : server.mqttUrl })
    await take(name, playMqtt(client, place(secret, player)))
  }
  for (const [name, bytes] of malformedPackets) {
    await take(name, playMalformed(await openMqtt({ url: server.mqttUrl }), bytes(secret)))
  }
}

/** @returns the payloads that were received: the topics of its own subscriptions are spelled as it spells them */
async function playMqtt(client: MqttClient, { connect = {}, packets = [] }: MqttPlace): Promise<string> {
  const isOpen = await client.connect(connect).then(
    ({ returnCode }) => returnCode === 0,
    () => false,
  )
  if (isOpen) {
    client.send(...packets)
    // An answer to PINGREQ is behind all other answers; who sent what is not allowed is closed.
    await Promise.race([client.ping(), client.closed]).catch(() => {})
  }
  await client.destroy()
  return payloadsOf(client)
}

async function playMalformed(client: MqttClient, bytes: Buffer): Promise<string> {
  client.sendBytes(bytes)
  // What came in with a CONNECT that is answered has been read by then.
  await Promise.race([client.next(isOf('connack')), client.closed]).catch(() => {})
  client.stream.end()
  await client.closed
  return payloadsOf(client)
}

function payloadsOf({ received }: MqttClient): string {
  return received
    .map(packet => (packet.cmd === 'publish' ? packet.payload.toString('latin1') : ''))
    .join('\n')
}
