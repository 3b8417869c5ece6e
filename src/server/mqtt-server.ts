import type { IncomingMessage } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { promisify } from 'node:util'
import { Aedes, type Client } from 'aedes'
import type { FastifyBaseLogger } from 'fastify'
import mqttPacket from 'mqtt-packet'
import { listNames } from '../core/list-documents.ts'
import type { Document, DocumentPut, DocumentStore } from '../core/ports.ts'
import { ThingwireError } from '../errors.ts'
import { attachThings, type MqttThings } from '../mqtt/index.ts'
import {
  clientIdOfQueued,
  type MessageDocument,
  type OwedDocument,
  placeText,
  placeTextIn,
  topicMessagePrefix,
  topicQueueOf,
  topicQueuePrefix,
} from '../mqtt/relay/documents.ts'
import { Relay } from '../mqtt/relay/relay.ts'
import { ConnectionLimit } from './connections/connection-limit.ts'
import { Descriptors } from './connections/descriptors.ts'
import { endpointOf, listen, probeAfter, urlOf } from './connections/listening.ts'
import { logConnectRefused, logRejected } from './connections/log-rejected.ts'
import { TrustedProxies } from './connections/trusted-proxies.ts'
import { newConnectionId } from './log/log.ts'
import { Observations } from './metrics/observations.ts'
import { MqttAdmission } from './mqtt-admission.ts'
import type { ServerOptions } from './options/options.ts'
import { connectTimeout, ownBrokerOptions } from './own-broker.ts'
import type { ServedCertificate } from './tls/served-certificate.ts'
import { openTlsListener, type TlsListener } from './tls/tls-listener.ts'

export interface MqttServer {
  /** Address of the plain listener. */
  readonly address: AddressInfo
  /** URL of the plain listener, such as `mqtt://127.0.0.1:1883`. */
  readonly url: string
  /** URL of the TLS listener, such as `mqtts://127.0.0.1:8883`; undefined without a certificate. */
  readonly secureUrl: string | undefined
  isListening(): boolean
  /** Serves a connection that the HTTP door accepted. `request` is the request that opened the connection. */
  handle(connection: Duplex, request: IncomingMessage): void
  /** Stops listening, finishes pending writes, and resolves when the last connection is closed. */
  close(): Promise<void>
}

// The cache would contain a buffer for each of 65,536 packet ids, and every garbage collection would visit each buffer.
mqttPacket.writeToStream.cacheNumbers = false

interface MqttServerParts {
  readonly descriptors?: Descriptors
  readonly observations?: Observations
}

/**
 * Opens the MQTT door (contract §7) on a new broker.
 *
 * @param stopping aborted when the server begins to stop: from then on clients are refused
 * @param certificate if absent, TLS is not served
 * @param parts shared with the HTTP door; default: new instances
 * @throws Error with one line for the operator if the server cannot listen
 */
export async function openMqttServer(
  things: MqttThings,
  options: ServerOptions,
  log: FastifyBaseLogger,
  stopping: AbortSignal,
  certificate?: ServedCertificate,
  { descriptors = new Descriptors(log), observations = new Observations() }: MqttServerParts = {},
): Promise<MqttServer> {
  const proxies = new TrustedProxies(options.trustedProxies)
  const limit = new ConnectionLimit(things.limits, proxies, descriptors)
  const admission = new MqttAdmission(proxies, limit, connectTimeout)
  const peers = new WeakMap<Client, Peer>()
  const onDefect = (error: unknown) => log.error({ err: error }, 'defect while serving MQTT')
  const relay = await openRelay(things, onDefect)
  const broker = await Aedes.createBroker({
    ...ownBrokerOptions,
    ...{ persistence: relay.persistence, mq: relay.bus },
  })
  watchConnections(broker, observations, client => peers.get(client), log)
  const attachOptions = {
    ownsBroker: true,
    maxPacketSize: options.maxPacketSize,
    sourcePacketSize: options.sourcePacketSize,
    willGrace: options.willGrace,
    drainTimeout: options.drainTimeout,
    addressOf: (client: Client) => peers.get(client)?.address ?? '',
    isDraining: () => stopping.aborted,
    onDefect,
    onElsewhere: (client: Client, { reason, message }: ThingwireError) => {
      const what = reason === 'subscription_refused' ? 'subscription refused' : 'publish dropped'
      log.info({ ...peers.get(client), reason }, `MQTT ${what}: ${message}`)
    },
    onOutage: (error: unknown) =>
      log.warn(
        { err: error },
        'the store is unavailable: wills and sessions of MQTT clients will be stored when it is back',
      ),
  }
  const detach = attachThings(broker, things, attachOptions, relay)
  const connections = new Set<Duplex>()
  const track = (connection: Duplex) => {
    connections.add(connection)
    connection.once('close', () => connections.delete(connection))
  }
  const handle = (connection: Duplex, address: string, request?: IncomingMessage) => {
    track(connection)
    const kind = request ? 'websocket' : 'mqtt'
    const connectionId = newConnectionId()
    observations.connections[kind]++
    log.debug({ connectionId, kind, address }, 'MQTT connection')
    connection.once('close', () => {
      observations.connections[kind]--
      log.debug({ connectionId }, 'MQTT connection closed')
    })
    peers.set(broker.handle(connection, request), { address, connectionId })
  }
  const accept = (socket: Socket) => handle(socket, admission.addressOf(socket))
  const listener = createServer(
    { noDelay: true, keepAlive: true, keepAliveInitialDelay: probeAfter },
    socket => {
      track(socket)
      admission.admit(socket, () => accept(socket))
    },
  )
  let secure: TlsListener | undefined
  const close = async () => {
    const closed = Promise.all([new Promise(resolve => listener.close(resolve)), secure?.close()])
    const cut = setTimeout(() => {
      log.warn('cutting the MQTT connections that are still open')
      destroyAll(connections)
    }, options.shutdownTimeout / 2)
    await detach().catch((err: unknown) => log.error({ err }, 'MQTT did not close cleanly'))
    clearTimeout(cut)
    // The remaining connections have not sent CONNECT.
    destroyAll(connections)
    await promisify(broker.close.bind(broker))()
    relay.close()
    await closed
  }
  try {
    const address = await listen(listener, endpointOf(options, 'mqttPort'), log)
    if (certificate) {
      secure = await openTlsListener({
        certificate,
        endpoint: endpointOf(options, 'mqttsPort'),
        allowHalfOpen: false,
        admit: (socket, next) => admission.admit(socket, next),
        accept,
        log,
      })
    }
    return {
      address,
      url: urlOf('mqtt', address),
      secureUrl: secure && urlOf('mqtts', secure.address),
      isListening: () => listener.listening && (secure?.isListening() ?? true),
      handle: (connection, request) => handle(connection, proxies.clientOf(request), request),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function openRelay(things: MqttThings, onDefect: (error: unknown) => void): Promise<Relay> {
  await splitCopies(things.documents)
  return await Relay.open({ ...things, onDefect })
}

interface Peer {
  readonly address: string
  /** The id of the connection in all of its log lines. */
  readonly connectionId: string
}

/** Counts and logs connections. Logs no client id, topic, payload or credential, since devices may put secrets in them. */
function watchConnections(
  broker: Aedes,
  observations: Observations,
  peerOf: (client: Client) => Peer | undefined,
  log: FastifyBaseLogger,
): void {
  const events: NodeJS.EventEmitter = broker
  events.on('error', (err: unknown) => log.error({ err }, 'defect in the MQTT broker'))
  const closed = (client: Client, error: Error) => {
    const { connectionId, address } = peerOf(client) ?? {}
    observations.brokenOff.add(error instanceof ThingwireError ? error.reason : 'other')
    log.debug({ connectionId, ...summary(error) }, 'MQTT connection interrupted')
    if (error instanceof ThingwireError) logRejected(log, error.reason, { connectionId, address })
  }
  events.on('connackSent', ({ returnCode }: { readonly returnCode: number }, client: Client) => {
    const { connectionId, address } = peerOf(client) ?? {}
    observations.connects.add(String(returnCode))
    log.debug({ connectionId, returnCode }, 'MQTT CONNECT answered')
    logConnectRefused(log, returnCode, { connectionId, address })
  })
  events.on('clientError', closed)
  events.on('connectionError', closed)
}

/** Leaves out the message of a `ThingwireError`, which may quote client data. Messages of Aedes and of sockets are constant. */
function summary(error: Error): object {
  return error instanceof ThingwireError ? { reason: error.reason } : { message: error.message }
}

function destroyAll(connections: Iterable<Duplex>): void {
  for (const connection of connections) connection.destroy()
}

/**
 * Converts the queued messages of a store in an older format. Before format 4 (3 in Redis), each session had its own copy of a
 * message, under a name without its size. Now sessions share one copy.
 *
 * @throws ThingwireError if the store fails
 */
async function splitCopies(documents: DocumentStore): Promise<void> {
  for await (const name of listNames(documents, topicQueuePrefix)) {
    const [order = '', brokerId = '', bytes] = placeTextIn(name).split('.')
    if (bytes !== undefined) continue
    const copy = await documents.get(name)
    if (copy)
      await documents.put(
        { [name]: null, ...split(copy, clientIdOfQueued(name), order, brokerId) },
        'essential',
      )
  }
}

function split(copy: Document, clientId: string, order: string, brokerId: string): DocumentPut {
  const { topic, payload, ...owed } = copy as MessageDocument & OwedDocument
  const bytes = Buffer.byteLength(topic) + Buffer.byteLength(payload, 'base64')
  const place = placeText({ order: Number(order), brokerId, bytes })
  const message: MessageDocument = { topic, payload }
  // The client has received the message, and its payload was dropped.
  const isHeld = owed.isReceived === true
  return {
    ...(!isHeld && { [topicMessagePrefix + place]: message }),
    [topicQueueOf(clientId) + place]: owed,
  }
}
