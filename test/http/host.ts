import fastify, { type FastifyInstance, type FastifyServerOptions, type InjectOptions } from 'fastify'
import { onTestFinished } from 'vitest'
import type { LimitOptions } from '../../src/access/limits/limits.ts'
import { createToken } from '../../src/core/token.ts'
import { type HttpThings, hostOptions, type ThingsHttpOptions, thingsHttp } from '../../src/http/index.ts'
import type { StoreDriver } from '../../src/store/contract.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { openThings, type ThingsParts } from '../../src/things.ts'
import { ofTest } from '../helpers/of-test.ts'
import { RawConnection } from '../helpers/raw-connection.ts'

export const adminKey = createToken()
export const asAdmin = { authorization: `Bearer ${adminKey}` }

export type Host = Awaited<ReturnType<typeof openHost>>
export type ListeningHost = Awaited<ReturnType<typeof listeningHost>>
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
export async function openHost(options: HostOptions = {}) {
  const { driver = createMemoryStore(), allowThingDelete = false, limits = {} } = options
  const things = await openThings({ store: driver, adminKey, allowThingDelete, limits })
  const app = fastify({ ...hostOptions, ...options.fastify }) as FastifyInstance
  options.prepare?.(app)
  await app.register(thingsHttp, { things: options.alter?.(things) ?? things, ...options.plugin })
  onTestFinished(async () => {
    await app.close()
    await things.close()
  })
  const { thingId, thingToken } = await things.registry.create({})
  /** Of the thing, by its token. */
  const path = `/v2/things/${thingToken}`
  const inject = (request: InjectOptions): Promise<Injected> => app.inject(request)
  /** Writes records. @throws Error unless the answer is 201 */
  const write = async (...values: object[]) => {
    const answer = await app.inject({ method: 'POST', url: path, body: { values } })
    if (answer.statusCode !== 201) throw new Error(`not written: ${answer.body}`)
  }
  return { app, things, thingId, thingToken, path, inject, write }
}

/** A host on a port of its own; `url` is that of the thing, with its token. */
export async function listeningHost(drainTimeout?: number, options: HostOptions = {}) {
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

/** A connection on which requests can be spelled as no HTTP client would; it ends with the test. */
export async function connectTo(app: FastifyInstance): Promise<RawConnection> {
  if (!app.server.listening) await app.listen({ host: '127.0.0.1', port: 0 })
  return await ofTest(RawConnection.open(app.listeningOrigin), ({ socket }) => socket.destroy())
}

/** The text of a POST request with a JSON body. */
export function postText(path: string, body: object, headers = ''): string {
  const text = JSON.stringify(body)
  return `POST ${path} HTTP/1.1\r\nHost: a\r\n${headers}Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
}
