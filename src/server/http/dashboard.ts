import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { extname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply } from 'fastify'
import Negotiator from 'negotiator'
import { isLoopback } from '../../access/limits/address-key.ts'
import { replyJson } from '../../http/reply/reply-json.ts'
import { packageRoot } from '../version.ts'

const built = fileURLToPath(new URL('dist/web/', packageRoot))
const notBuilt = 'The dashboard is not built: run `npm run build`, then start again.\n'

/** Part of the path of files that get a new name when their content changes. */
const hashedFiles = `${sep}assets${sep}`
const aYear = 31_536_000

/** `npm run build` replaces larger text files in `assets` with gzipped ones. Every browser accepts gzip, even over plain HTTP. */
const compressed = '.gz'
const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
}

interface DashboardParts {
  readonly version: string
  /** The port that the page shows for connecting a device; undefined if MQTT is not served. */
  readonly mqttPort: number | undefined
  /** The port of MQTT over TLS; undefined if MQTT over TLS is not served. */
  readonly mqttsPort: number | undefined
  /** Whether MQTT listens only on loopback. */
  readonly isMqttLoopback: boolean
  /** The directory of the built dashboard; given only by a test. */
  readonly directory?: string
}

/**
 * Serves the dashboard at `/`, and `GET /dashboard.json` → `{"mqttPort"?,"mqttsPort"?,"version","loopback"}`. `loopback` is true
 * if other machines can reach the server only through a proxy. Only files of the dashboard get the security headers of pages;
 * answers to devices do not (contract §6). Register this after `thingsHttp`, which knows only the routes that are added after it.
 */
export async function dashboardRoutes(app: FastifyInstance, parts: DashboardParts): Promise<void> {
  const { version, mqttPort, mqttsPort, isMqttLoopback, directory = built } = parts
  await app.register(async scope => {
    scope.get('/dashboard.json', async (_request, reply) => {
      const loopback = isMqttLoopback && listensOnLoopback(app)
      const facts = { mqttPort, mqttsPort, version, loopback }
      return replyJson(reply.header('cache-control', 'no-cache'), 200, JSON.stringify(facts))
    })
    if (existsSync(join(directory, 'index.html'))) await serveFiles(scope, directory)
    else scope.get('/', async (_request, reply) => reply.type('text/plain; charset=utf-8').send(notBuilt))
  })
}

function listensOnLoopback(app: FastifyInstance): boolean {
  return app.addresses().every(at => typeof at === 'string' || isLoopback(at.address))
}

async function serveFiles(scope: FastifyInstance, directory: string): Promise<void> {
  await scope.register(fastifyStatic, {
    root: directory,
    // One route for each file, so that every other path is unknown to the router.
    wildcard: false,
    globIgnore: [`**/*${compressed}`],
    decorateReply: false,
    cacheControl: false,
    setHeaders: setPageHeaders,
  })
  const names = await readdir(directory, { recursive: true })
  for (const name of names) if (name.endsWith(compressed)) serveCompressed(scope, directory, name)
}

/** Serves a file that exists only compressed. Its name changes with its content, so it needs no ETag. */
function serveCompressed(scope: FastifyInstance, directory: string, name: string): void {
  const file = name.slice(0, -compressed.length)
  const type = types[extname(file)] ?? 'application/octet-stream'
  scope.get(`/${file.replaceAll(sep, '/')}`, async (request, reply) => {
    const bytes = await readFile(join(directory, name)).catch(unlessMissing)
    if (!bytes) return reply.callNotFound()
    setPageHeaders(reply, join(directory, name))
    reply.type(type).header('vary', 'accept-encoding')
    const [preferred] = new Negotiator(request.raw).encodings(['gzip', 'identity'])
    if (preferred === 'gzip') return reply.header('content-encoding', 'gzip').send(bytes)
    return reply.send(await promisify(gunzip)(bytes))
  })
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

function setPageHeaders(reply: FastifyReply, path: string): void {
  const isHashed = path.includes(hashedFiles)
  reply.header('cache-control', isHashed ? `public, max-age=${aYear}, immutable` : 'no-cache')
  reply.header('content-security-policy', contentSecurityPolicy(reply))
  reply.header('x-content-type-options', 'nosniff')
  reply.header('referrer-policy', 'no-referrer')
}

function contentSecurityPolicy({ request }: FastifyReply): string {
  return [
    "default-src 'self'",
    `connect-src 'self'${webSocketsOf(request.headers.host)}`,
    // Map tiles may come from any HTTPS server.
    "img-src 'self' data: blob: https:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

/** The sources for WebSockets, which some browsers do not include in `'self'`. Empty if Host is malformed. */
function webSocketsOf(host = ''): string {
  return /^([\w.-]+|\[[\da-f:.]+\])(:\d+)?$/i.test(host) ? ` ws://${host} wss://${host}` : ''
}
