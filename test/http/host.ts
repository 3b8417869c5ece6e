import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import fastify, { type FastifyInstance, type FastifyServerOptions, type InjectOptions } from 'fastify'
import { onTestFinished } from 'vitest'
import type { LimitOptions } from '../../src/access/limits/limits.ts'
import { createToken } from '../../src/core/token.ts'
import { type HttpThings, hostOptions, type ThingsHttpOptions, thingsHttp } from '../../src/http/index.ts'
import type { StoreDriver } from '../../src/store/contract.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { openThings, type ThingsParts } from '../../src/things.ts'

export const adminKey = createToken()
export const asAdmin = { authorization: `Bearer ${adminKey}` }

export interface Host {
  readonly app: FastifyInstance
  readonly things: ThingsParts
  readonly thingId: string
  readonly thingToken: string
  /** `/v2/things/<thing token>` */
  readonly path: string
  inject(request: InjectOptions): Promise<Injected>
  /** Writes records; throws unless the answer is 201. */
  write(...values: object[]): Promise<void>
}

export type Injected = Awaited<ReturnType<FastifyInstance['inject']>>

export interface HostOptions {
  readonly driver?: StoreDriver
  readonly plugin?: Partial<ThingsHttpOptions>
  readonly fastify?: FastifyServerOptions
  readonly allowThingDelete?: boolean
  readonly limits?: Partial<LimitOptions>
  /** Puts something else in the place of a part of the service. */
  readonly alter?: (things: ThingsParts) => HttpThings
  /** Adds what the host has beside the plugin. */
  readonly prepare?: (app: FastifyInstance) => void
}

/** A host with the plugin and one thing, on a store in memory unless said otherwise; closed at the end of the test. */
export async function openHost(options: HostOptions = {}): Promise<Host> {
  const {
    driver = createMemoryStore(),
    allowThingDelete = false,
    alter = things => things,
    limits = {},
  } = options
  const things = await openThings({ store: driver, adminKey, allowThingDelete, limits })
  const app = fastify({ ...hostOptions, ...options.fastify }) as FastifyInstance
  options.prepare?.(app)
  await app.register(thingsHttp, { things: alter(things), ...options.plugin })
  onTestFinished(async () => {
    await app.close()
    await things.close()
  })
  const { thingId, thingToken } = await things.registry.create({})
  const path = `/v2/things/${thingToken}`
  return {
    app,
    things,
    thingId,
    thingToken,
    path,
    inject: request => app.inject(request),
    write: async (...values) => {
      const answer = await app.inject({ method: 'POST', url: path, body: { values } })
      if (answer.statusCode !== 201) throw new Error(`not written: ${answer.body}`)
    },
  }
}

export interface ListeningHost extends Host {
  /** Of the thing, with its token. */
  readonly url: string
}

/** A host on a port of its own. */
export async function listeningHost(
  drainTimeout?: number,
  options: HostOptions = {},
): Promise<ListeningHost> {
  const host = await openHost(drainTimeout === undefined ? options : { ...options, plugin: { drainTimeout } })
  const address = await host.app.listen({ host: '127.0.0.1', port: 0 })
  return { ...host, url: address + host.path }
}

/** Reason code of an error answer, checked for the shape of contract §6. */
export function reasonOf(answer: Pick<Injected, 'statusCode' | 'body' | 'headers'>): string {
  const body = JSON.parse(answer.body) as { status: string; code: number; reason: string; message: string }
  if (body.status !== 'error' || body.code !== answer.statusCode || typeof body.message !== 'string') {
    throw new Error(`not an error answer: ${answer.statusCode} ${answer.body}`)
  }
  if (answer.headers['content-type'] !== 'application/json') throw new Error('not application/json')
  return body.reason
}

export interface Connection {
  readonly socket: Socket
  send(text: string): void
  /** Resolves when what was received contains `text`; gives all that was received. */
  received(text: string): Promise<string>
  /** Resolves when the other side has closed; gives all that was received. */
  closed(): Promise<string>
}

/** A connection on which requests can be spelled as no HTTP client would. */
export async function connectTo(app: FastifyInstance): Promise<Connection> {
  if (!app.server.listening) await app.listen({ host: '127.0.0.1', port: 0 })
  const address = app.server.address()
  if (typeof address !== 'object' || address === null) throw new Error('not listening')
  const socket = connect(address.port, '127.0.0.1')
  onTestFinished(() => {
    socket.destroy()
  })
  let text = ''
  socket.on('data', chunk => (text += chunk.toString('latin1')))
  const closed = once(socket, 'close').catch(() => {})
  await once(socket, 'connect')
  return {
    socket,
    send: bytes => socket.write(bytes),
    received: async wanted => {
      for (let from = 0; text.indexOf(wanted, from) === -1; ) {
        from = Math.max(0, text.length - wanted.length)
        await once(socket, 'data')
      }
      return text
    },
    closed: async () => {
      await closed
      return text
    },
  }
}

/** The text of a POST request with a JSON body. */
export function postText(path: string, body: object, headers = ''): string {
  const text = JSON.stringify(body)
  return `POST ${path} HTTP/1.1\r\nHost: a\r\n${headers}Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
}
