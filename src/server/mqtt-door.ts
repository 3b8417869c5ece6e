import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import type { Duplex } from 'node:stream'
import { promisify } from 'node:util'
import { Aedes, type AedesOptions, type Client } from 'aedes'
import type { FastifyBaseLogger } from 'fastify'
import { ThingwireError } from '../errors.ts'
import { attachThings, type MqttThings } from '../mqtt/index.ts'
import { listenProblem, urlOf } from './listening.ts'
import type { ServerOptions } from './options.ts'

export interface MqttDoor {
  /** Of the TCP listener, such as `mqtt://127.0.0.1:1883`. */
  readonly url: string
  isListening(): boolean
  /** Takes a connection that came in another way, with the request that it began as. */
  handle(connection: Duplex, request: IncomingMessage): void
  /** Stops listening, finishes the writes in hand, and resolves when the last connection is closed. */
  close(): Promise<void>
}

/** From the connection to its CONNECT, milliseconds: as long as HTTP waits for the head of a request. */
const connectTimeout = 30_000

/**
 * Milliseconds of silence after which the system asks whether a peer is still there, since the keep-alive of MQTT may
 * be 0, for never.
 */
export const probeAfter = 60_000

/**
 * Opens the MQTT door (contract §7) on a broker of its own.
 *
 * @param stopping aborted when the server begins to stop: from then on no client is let in
 * @throws Error with one line for the operator if it cannot listen
 */
export async function openMqttDoor(
  things: MqttThings,
  options: ServerOptions,
  log: FastifyBaseLogger,
  stopping: AbortSignal,
): Promise<MqttDoor> {
  const broker = await Aedes.createBroker({
    connectTimeout,
    authenticate: refuseAll,
  })
  logProblems(broker, log)
  const detach = attachThings(broker, things, {
    ownsBroker: true,
    maxPacketSize: options.maxPacketSize,
    willGrace: options.willGrace,
    drainTimeout: options.drainTimeout,
    isDraining: () => stopping.aborted,
    onDefect: error => log.error({ err: error }, 'defect in the MQTT door'),
  })
  const connections = new Set<Duplex>()
  const handle = (connection: Duplex, request?: IncomingMessage) => {
    connections.add(connection)
    connection.once('close', () => connections.delete(connection))
    broker.handle(connection, request)
  }
  const listener = createServer(
    { noDelay: true, keepAlive: true, keepAliveInitialDelay: probeAfter },
    socket => handle(socket),
  )
  const close = async () => {
    const closed = new Promise(resolve => listener.close(resolve))
    const cut = setTimeout(() => {
      log.warn('cutting the MQTT connections that are still open')
      destroyAll(connections)
    }, options.shutdownTimeout / 2)
    await detach().catch((err: unknown) => log.error({ err }, 'the MQTT door did not close well'))
    clearTimeout(cut)
    // What is left has not come as far as a CONNECT.
    destroyAll(connections)
    await promisify(broker.close.bind(broker))()
    await closed
  }
  await listen(listener, options).catch(async (error: unknown) => {
    await close()
    throw error
  })
  return {
    url: urlOf('mqtt', listener.address() as AddressInfo),
    isListening: () => listener.listening,
    handle,
    close,
  }
}

/** The broker without Thingwire, as it is once the door is detached, lets nobody in (CONNACK 3). */
const refuseAll: NonNullable<AedesOptions['authenticate']> = (_client, _username, _password, done) => {
  done(Object.assign(new Error('stopping'), { returnCode: 3 }), false)
}

/** Without client id, topic, payload or credential: devices put secrets there. */
function logProblems(broker: Aedes, log: FastifyBaseLogger): void {
  const events: NodeJS.EventEmitter = broker
  events.on('error', (err: unknown) => log.error({ err }, 'defect in the MQTT broker'))
  const closed = (_client: Client, error: Error) => log.debug(summary(error), 'MQTT connection broken off')
  events.on('clientError', closed)
  events.on('connectionError', closed)
}

/** The text of an error of our own may name what the client sent; those of the broker and of sockets are fixed. */
function summary(error: Error): object {
  return error instanceof ThingwireError ? { reason: error.reason } : { message: error.message }
}

async function listen(listener: Server, { host, mqttPort }: ServerOptions): Promise<void> {
  listener.listen({ host, port: mqttPort })
  await once(listener, 'listening').catch((cause: unknown) => {
    const problem = listenProblem(cause as NodeJS.ErrnoException, host, 'mqttPort', mqttPort)
    throw new Error(problem, { cause })
  })
}

function destroyAll(connections: Iterable<Duplex>): void {
  for (const connection of connections) connection.destroy()
}
