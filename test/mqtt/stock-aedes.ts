import type { EventEmitter } from 'node:events'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { Aedes, type AedesOptions, type Client } from 'aedes'
import type { IConnectPacket } from 'mqtt-packet'
import { onTestFinished } from 'vitest'
import { type MqttClient, openMqtt } from '../helpers/mqtt-client.ts'

/** Private fields of an Aedes client, as src/mqtt/aedes-seams.ts takes them to be. */
export interface Internals {
  readonly _parser: EventEmitter & {
    readonly packet: { readonly length: number }
    readonly _list: {
      readonly length: number
      get(place: number): number
      slice(start?: number, end?: number): Buffer
      consume(bytes: number): void
    }
    parse(bytes: Buffer): number
    _parseHeader(): boolean
    _parseLength(): boolean
    _parsePayload(): boolean
    _emitError(error: Error): void
  }
  _nextBatch: (error?: Error) => void
  _parsingBatch: number
  _paused?: boolean
  _nextId: number
  _keepaliveTimer: NodeJS.Timeout | null
  resume(): void
}

export interface Accepted {
  /** What `broker.handle` returned. */
  readonly client: Client
  readonly internals: Internals
  /** The other end of the connection. */
  readonly peer: MqttClient
}

/** A broker as Aedes gives it. */
export async function openBroker(options: AedesOptions = {}): Promise<Aedes> {
  const broker = await Aedes.createBroker(options)
  onTestFinished(() => new Promise<void>(resolve => broker.close(resolve)))
  return broker
}

/**
 * One TCP connection to the broker.
 *
 * @param prepare called as soon as `broker.handle` has returned
 */
export async function accept(
  broker: Aedes,
  prepare: (client: Client, internals: Internals) => void = () => {},
): Promise<Accepted> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const handled = new Promise<Client>((resolve, reject) => {
    server.once('connection', socket => {
      try {
        const client = broker.handle(socket)
        prepare(client, internalsOf(client))
        resolve(client)
      } catch (error) {
        reject(error)
      }
    })
  })
  const peer = await openMqtt({ url: `mqtt://127.0.0.1:${(server.address() as AddressInfo).port}` })
  server.close()
  onTestFinished(() => peer.destroy())
  const client = await handled
  return { client, internals: internalsOf(client), peer }
}

/** Notes the arguments of every call of a method that is looked up on its object. */
export function watch<Key extends PropertyKey>(object: object, method: Key): unknown[][] {
  const calls: unknown[][] = []
  const original: unknown = Reflect.get(object, method)
  if (typeof original !== 'function') throw new Error(`there is no method ${String(method)}`)
  Reflect.set(object, method, function (this: unknown, ...given: unknown[]): unknown {
    calls.push(given)
    return Reflect.apply(original, this, given)
  })
  return calls
}

export const connectPacket: IConnectPacket = {
  cmd: 'connect',
  protocolId: 'MQTT',
  protocolVersion: 4,
  clientId: 'peer',
  clean: true,
  keepalive: 0,
}

function internalsOf(client: Client): Internals {
  return client as unknown as Internals
}
