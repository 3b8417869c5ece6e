import { type Thing, write } from '../helpers/http-client.ts'
import { connectMqtt, isOf, type MqttClient, packetText } from '../helpers/mqtt-client.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import { StreamClient } from '../http/stream-client.ts'
import type { Evidence } from './evidence.ts'

export type Witnesses = ReturnType<typeof callWitnesses>

/** Takes down everything that others are told while secrets are used. */
export function callWitnesses(server: ServerProcess, evidence: Evidence) {
  const clients = new Map<string, MqttClient>()
  const streams = new Map<string, StreamClient>()
  const read = async (name: string, stream: StreamClient, text: string) => {
    let chunk: string
    do {
      chunk = await stream.next()
      evidence.add('told', `a stream to the ${name}`, chunk)
    } while (!chunk.includes(text))
  }
  /** Resolves when a client has a message with this text in it. */
  const untilTold = async (name: string, text: string) => {
    await clients.get(name)?.next(packet => packet.cmd === 'publish' && packet.payload.includes(text))
  }
  return {
    untilTold,
    /** Has somebody subscribe who may see a thing, and knows no secret but his own: in one version or the other. */
    watch: async (name: string, password: string, filters: readonly string[], clean = true) => {
      const url = clients.size % 2 === 0 ? server.mqttUrl : server.webSocketUrl
      const protocolVersion = clients.size % 4 < 2 ? 5 : 4
      const properties = clean ? {} : { sessionExpiryInterval: 3_600 }
      const session = { username: name, password, clientId: name, clean, properties }
      const client = await connectMqtt({ url, protocolVersion, ...session, deadline: 60_000 })
      clients.set(name, client)
      const granted = await client.subscribeAll(filters)
      if (granted.some(code => code >= 128)) throw new Error(`${name} may not see what it is to witness`)
    },
    /** @param path with the session token of the witness, which is not in what the stream sends */
    stream: async (name: string, path: string, headers: Readonly<Record<string, string>> = {}) => {
      const stream = await StreamClient.open(`${server.url}${path}`, headers)
      streams.set(name, stream)
      evidence.add('told', `the head of a stream to the ${name}`, await stream.head())
    },
    /** Has the thing write, and waits until all who may see that have seen it: they have then seen what was before it. */
    untilMarked: async (thing: Thing, text: string) => {
      const all = [...clients.keys()].filter(name => name !== 'neighbour')
      const told = all.map(name => untilTold(name, text))
      await write(server, thing, { values: [{ key: 'mark', value: text }] })
      await Promise.all([...told, ...[...streams].map(([name, stream]) => read(name, stream, text))])
    },
    /** Takes down what the clients have received, and ends their connections. */
    end: async () => {
      for (const [name, client] of clients) {
        await client.destroy()
        for (const { topic, payload, properties } of client.received.filter(isOf('publish'))) {
          evidence.add('told', `a topic to the ${name}`, topic)
          evidence.add('told', `a message to the ${name}`, payload)
          evidence.add('told', `properties of a message to the ${name}`, packetText(properties))
        }
      }
      for (const stream of streams.values()) await stream.destroy()
    },
  }
}
