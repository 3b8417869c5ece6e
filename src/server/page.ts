import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { promisify } from 'node:util'
import type { Aedes } from 'aedes'
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { z } from 'zod'
import { assertOptions } from '../core/options/given-options.ts'
import { ifGiven, objectWith, ofFastify, wholeNumber } from '../core/options/option-kinds.ts'
import { type Pluggable, partsOf } from '../core/options/things-parts.ts'
import { ThingwireError } from '../errors.ts'
import { httpPluginName } from '../http/plugin.ts'
import { isAttached } from '../mqtt/attach.ts'
import { attachThings, type MqttThings } from '../mqtt/index.ts'
import { refuse } from './connections/refuse.ts'
import { dashboardRoutes } from './http/dashboard.ts'
import { ignore, MqttWebSockets, webSocketPath } from './http/mqtt-web-sockets.ts'
import { ownBrokerOptions } from './own-broker.ts'
import { readVersion } from './version.ts'

export interface ThingsPageOptions {
  /** The result of `createThings`. The plugin does not close it. */
  readonly things: Pluggable<MqttThings>
  /** The broker that was passed to `attachThings`, for live values. Default: a new broker, for a host that serves no MQTT. */
  readonly broker?: Aedes | undefined
  /** The MQTT port that the page shows for connecting a device, 1..65535. Default: none, for a host that serves no MQTT. */
  readonly mqttPort?: number | undefined
  /** The port of MQTT over TLS, 1..65535. Default: none. */
  readonly mqttsPort?: number | undefined
  /** Maximum size of an MQTT packet over WebSocket, bytes. Default 1 MiB. */
  readonly maxPacketSize?: number | undefined
}

const optionRules = {
  things: { schema: z.unknown(), rule: 'what createThings gives' },
  broker: ifGiven(objectWith('an Aedes broker', ['handle', 'preConnect'])),
  mqttPort: ifGiven(wholeNumber(1, 65_535)),
  mqttsPort: ifGiven(wholeNumber(1, 65_535)),
  maxPacketSize: ifGiven(wholeNumber(1_024, 64 * 1_048_576, 'bytes')),
} as const satisfies Record<keyof ThingsPageOptions, unknown>

/** Milliseconds between pings. Common proxies cut a connection after 60 s of silence. */
const ping = 25_000

/**
 * Serves the page of the ready server at `/` of the app, and MQTT over WebSocket at `/mqtt`, from which the page gets live values.
 * The page reads through `thingsHttp`, which must be registered first under the same prefix. A visitor signs in with a thing token,
 * a session or the admin key.
 *
 * @throws TypeError, on registration, if an option is missing, wrong or unknown
 * @throws Error if `thingsHttp` is not registered, if `attachThings` was not called on `broker`, or if the app has a route `/`
 */
export const thingsPage: FastifyPluginAsync<ThingsPageOptions> = fastifyPlugin(
  async (app: FastifyInstance, options: ThingsPageOptions) => {
    assertOptions('thingsPage', { ...optionRules, ...ofFastify }, options, '{ things }')
    const things = partsOf('thingsPage', options.things)
    if (!app.hasPlugin(httpPluginName)) {
      throw new Error('thingsPage needs thingsHttp: await app.register(thingsHttp, { things }) first')
    }
    if (options.broker && !isAttached(options.broker)) {
      throw new Error('thingsPage needs a broker with the things: attachThings(broker, things) first')
    }
    const { mqttPort, mqttsPort, maxPacketSize = 1_048_576 } = options
    const { broker, close } = options.broker
      ? { broker: options.broker, close: async () => {} }
      : await openOwnBroker(things, maxPacketSize)
    const handle = (stream: Duplex, request: IncomingMessage) => void broker.handle(stream, request)
    const webSockets = new MqttWebSockets({ allowedOrigins: ['*'], maxPacketSize, ping, handle })
    const stopAccepting = acceptAt(app, webSockets)
    app.addHook('preClose', async () => {
      stopAccepting()
      await close()
      webSockets.cut()
    })
    const version = await readVersion()
    await dashboardRoutes(app, { version, mqttPort, mqttsPort, isMqttLoopback: true })
  },
  { name: 'thingwire-page', fastify: '5.x' },
)

async function openOwnBroker(things: MqttThings, maxPacketSize: number) {
  // Aedes is imported only here: a host that passes its own broker uses its own copy of Aedes, and does not need this one.
  const { Aedes } = await import('aedes')
  const broker = await Aedes.createBroker(ownBrokerOptions)
  const detach = attachThings(broker, things, { ownsBroker: true, maxPacketSize })
  const close = async () => {
    await detach()
    await promisify(broker.close.bind(broker))()
  }
  return { broker, close }
}

/** Accepts WebSockets at `/mqtt`, under the prefix of the app. @returns a function that stops accepting */
function acceptAt({ server, prefix }: FastifyInstance, webSockets: MqttWebSockets): () => void {
  const path = prefix + webSocketPath
  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (pathOf(request) !== path) {
      // Another listener may answer the request. If there is no other listener, the client would wait forever.
      if (server.listenerCount('upgrade') > 1) return
      return refuse(socket, new ThingwireError('websocket_elsewhere', `MQTT over WebSocket is at ${path}`))
    }
    socket.on('error', ignore)
    const problem = webSockets.problemOf(request)
    if (problem) refuse(socket, problem)
    else webSockets.take(request, socket, head)
  }
  server.on('upgrade', onUpgrade)
  return () => server.off('upgrade', onUpgrade)
}

/** The path without its query, with slashes normalised as for routes (`hostOptions`). */
function pathOf({ url = '' }: IncomingMessage): string {
  return url.replace(/\?.*$/s, '').replaceAll(/\/+/g, '/').replace(/\/$/, '')
}
