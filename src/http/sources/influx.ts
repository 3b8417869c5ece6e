import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { SourcePrincipal } from '../../access/access.ts'
import { readText } from '../../core/json/read-json.ts'
import type { Refused } from '../../core/refusals/answer-texts.ts'
import { isToken } from '../../core/token.ts'
import { ThingwireError } from '../../errors.ts'
import type { HttpThings } from '../http-things.ts'
import { replyError } from '../reply/reply-error.ts'
import { replyJson } from '../reply/reply-json.ts'
import { sourceCredentialOf } from '../request/credential.ts'
import { Query } from '../request/query.ts'
import { bodyOf } from '../request/request-body.ts'
import { post } from './post-to-source.ts'

/** The newest version of InfluxDB that has the paths of both its first and its second version. */
const version = '1.8.10'

/** The codes of errors of InfluxDB 2, by HTTP status. */
const codes: Readonly<Record<number, string>> = {
  401: 'unauthorized',
  403: 'forbidden',
  413: 'request too large',
  429: 'too many requests',
  500: 'internal error',
  503: 'unavailable',
}

/** @throws ThingwireError invalid_body */
function assertReadsLines({ sourceId, terms: { formats } }: SourcePrincipal): void {
  if (formats.includes('influx')) return
  const why = `the source must have the format influx to read lines of InfluxDB, but it has ${formats.join(', ')}`
  const advice = `\`thingwire sources set ${sourceId} --format … --format influx\` replaces all its formats`
  throw new ThingwireError('invalid_body', `${why}: ${advice}`)
}

/**
 * What clients of InfluxDB write to, and ask before they write (contract §6.10). Telegraf, Node-RED, Proxmox and Home Assistant have such a
 * client.
 */
export function influxRoutes(
  scope: FastifyInstance,
  things: HttpThings,
  bodyLimit: number,
  isReady: () => boolean,
): void {
  scope.get('/ping', async (request, reply) => {
    reply.header('x-influxdb-version', version)
    const isVerbose = new Query(request).has('verbose')
    return isVerbose ? replyJson(reply, 200, JSON.stringify({ version })) : reply.code(204).send()
  })

  scope.get('/health', async (_request, reply) => {
    const status = isReady() ? 'pass' : 'fail'
    const health = { name: 'influxdb', message: 'ready for writes', status, checks: [], version }
    return replyJson(reply, status === 'pass' ? 200 : 503, JSON.stringify(health))
  })

  scope.register(async v1 => {
    const textOf = ({ status, message }: Refused) =>
      JSON.stringify({ error: status === 401 ? `authorization failed: ${message}` : message })
    v1.setErrorHandler((error, request, reply) => refuse(error, request, reply, textOf))
    v1.post('/write', write)
    v1.route({ method: ['GET', 'POST'], url: '/query', handler: query })
  })

  scope.register(async v2 => {
    const textOf = ({ status, message }: Refused) =>
      JSON.stringify({ code: codes[status] ?? 'invalid', message })
    v2.setErrorHandler((error, request, reply) => refuse(error, request, reply, textOf))
    v2.post('/api/v2/write', write)
  })

  /** Good lines are stored though others are bad, as InfluxDB does. */
  async function write(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const parameters = new Query(request)
    const login = [parameters.text('p'), parameters.text('u')]
    const credential = sourceCredentialOf(request) ?? login.find(text => text && isToken(text)) ?? login[0]
    const source = await things.access.authoriseSource(credential)
    const { refused } = await post(things, source, request, () => {
      assertReadsLines(source)
      const payload = bodyOf(request, bodyLimit)
      return { payload, body: readText(payload) }
    })
    // Clients of InfluxDB send such a write once, not again and again.
    if (refused !== undefined) throw new ThingwireError('invalid_lines', `partial write: ${refused}`)
    return reply.code(204).send()
  }

  /** Telegraf creates its database; programs look first whether there is one. */
  async function query(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const inBody = new URLSearchParams(bodyOf(request, bodyLimit).toString())
    const statement = (new Query(request).text('q') ?? inBody.get('q') ?? '').trim()
    const series = [{ name: 'databases', columns: ['name'], values: [] }]
    const isShow = /^show\s+databases\b/i.test(statement)
    if (!isShow && !/^create\s+database\b/i.test(statement)) {
      const why = 'the query must be CREATE DATABASE or SHOW DATABASES: records are read at /v2/things'
      throw new ThingwireError('invalid_query', why)
    }
    return replyJson(
      reply,
      200,
      JSON.stringify({ results: [{ statement_id: 0, ...(isShow && { series }) }] }),
    )
  }

  function refuse(
    error: unknown,
    request: FastifyRequest,
    reply: FastifyReply,
    textOf: (refused: Refused) => string,
  ): FastifyReply {
    const counted =
      error instanceof ThingwireError ? things.limits.countFailure(error, request.ip ?? '') : error
    return replyError(counted, request, reply, textOf)
  }
}
