import type { Packet } from 'mqtt-packet'
import { codeOf, isOf, type MqttClient, openMqtt, packetText } from '../helpers/mqtt-client.ts'
import { malformedPackets } from './malformed-packets.ts'
import { type MqttPlace, places } from './mqtt-places.ts'
import { keepsSecrets } from './play.ts'
import { placesOf5 } from './version5-places.ts'

keepsSecrets('over MQTT', {
  play: async ({ server, player, secret, take }) => {
    for (const protocolVersion of [4, 5] as const) {
      const all = protocolVersion === 4 ? places : [...places, ...placesOf5]
      for (const [index, [name, place]] of all.entries()) {
        const url = index % 4 === 0 ? server.webSocketUrl : server.mqttUrl
        const client = await openMqtt({ url, protocolVersion })
        await take(`${name}, in version ${protocolVersion}`, playMqtt(client, place(secret, player)))
      }
      for (const [name, bytes] of malformedPackets[protocolVersion]) {
        const client = await openMqtt({ url: server.mqttUrl, protocolVersion })
        await take(name, playMalformed(client, bytes(secret)))
      }
    }
  },
  refused: ['house/[redacted]/x'],
  answered: ['reason not_an_answer_topic', 'reasonString the topic alias 5 was sent without'],
})

/** @returns what was received, as `toldIn` */
async function playMqtt(client: MqttClient, { connect = {}, packets = [] }: MqttPlace): Promise<string> {
  const kept = connect.clean === false ? { sessionExpiryInterval: 3_600 } : {}
  const properties = { ...kept, ...connect.properties }
  const isOpen = await client.connect({ ...connect, properties }).then(
    connack => codeOf(connack) === 0,
    () => false,
  )
  if (isOpen) {
    client.send(...packets)
    // What has no answer was read before a PINGREQ; who sent what is not allowed is closed.
    const answers = packets.flatMap(packet => answerTo(packet) ?? [])
    const all = [...answers.map(answer => client.next(answer)), client.ping()]
    // Each waits until the connection ends at most.
    await Promise.allSettled(all)
  }
  await client.destroy()
  return toldIn(client)
}

function answerTo(packet: Packet): ((answer: Packet) => boolean) | undefined {
  switch (packet.cmd) {
    case 'publish':
      return packet.qos === 0 ? undefined : isOf(packet.qos === 1 ? 'puback' : 'pubrec', packet.messageId)
    case 'subscribe':
      return isOf('suback', packet.messageId)
    case 'unsubscribe':
      return isOf('unsuback', packet.messageId)
    default:
      return undefined
  }
}

async function playMalformed(client: MqttClient, bytes: Buffer): Promise<string> {
  client.sendBytes(bytes)
  // What came in with a CONNECT that is answered has been read by then.
  await Promise.race([client.next(isOf('connack')), client.closed]).catch(() => {})
  client.stream.end()
  await client.closed
  return toldIn(client)
}

/**
 * All but the topics of its own subscriptions, which are spelled as it spells them, and the Correlation Data of its own writes. In
 * version 5 that is what the server says of itself, too: Reason Strings and User Properties.
 */
function toldIn({ received }: MqttClient): string {
  return received
    .map(packet => {
      const { correlationData: _, ...properties } = { correlationData: 0, ...propertiesOf(packet) }
      return packetText({ ...packet, topic: '', properties })
    })
    .join('\n')
}

function propertiesOf(packet: Packet): object | undefined {
  return 'properties' in packet ? packet.properties : undefined
}
