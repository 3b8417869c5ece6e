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

/** Where Vite puts files whose names change with their content. */
const hashedFiles = `${sep}assets${sep}`
const aYear = 31_536_000

/** What `npm run build` leaves of a text file: every browser takes it, over plain HTTP too. */
const compressed = '.gz'
const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
}

interface DashboardParts {
  readonly version: string
  /** Where the MQTT door listens: a page shows it to whoever connects a device. */
  readonly mqttPort: number | undefined
  /** The same with TLS; undefined if it is not served. */
  readonly mqttsPort: number | undefined
  /** Whether MQTT is for programs on this machine alone; whether HTTP is, is asked of its own listener. */
  readonly isMqttLoopback: boolean
  /** For a test: what stands in the place of what `npm run build` makes. */
  readonly directory?: string
}

/**
 * The dashboard at `/`, and `GET /dashboard.json` → `{"mqttPort"?,"mqttsPort"?,"version","loopback"}`: `loopback` means
 * that a device elsewhere reaches the server through a proxy or not at all. The headers that bind a page to its own
 * server are on its files alone: a device gets none of them (contract §6). To be registered behind `thingsHttp`, which
 * answers what is no route.
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
    // A route for each file: every other path is unknown, as anywhere.
    wildcard: false,
    globIgnore: [`**/*${compressed}`],
    decorateReply: false,
    cacheControl: false,
    setHeaders: setPageHeaders,
  })
  const names = await readdir(directory, { recursive: true })
  for (const name of names) if (name.endsWith(compressed)) serveCompressed(scope, directory, name)
}

/** A file that is there compressed alone. Its name changes with its content, so nobody asks whether it has changed. */
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
    // Tiles of a map may come from anywhere that is encrypted.
    "img-src 'self' data: blob: https:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

/** To some browsers `'self'` is no WebSocket. A Host that could be more than a name stands for itself alone. */
function webSocketsOf(host = ''): string {
  return /^([\w.-]+|\[[\da-f:.]+\])(:\d+)?$/i.test(host) ? ` ws://${host} wss://${host}` : ''
}
