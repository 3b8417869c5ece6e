import { connect } from 'node:net'
import { basic, bodies, spelledBodies } from './bodies.ts'
import { percentEncoded } from './forms.ts'
import { keepsSecrets } from './play.ts'

/** A request, with which whoever sends it puts a secret into a place. */
interface HttpPlace {
  /** Default GET. */
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** @param thingId of a thing @param token a live one of it, with which the request gets past its credential */
type Place = (secret: string, thing: { readonly thingId: string; readonly token: string }) => HttpPlace

const write = (path: string, body: string, headers: Readonly<Record<string, string>> = {}): HttpPlace => {
  return { method: 'POST', path, body, headers }
}
const good = '{"values":[{"key":"n","value":1}]}'

/** Where a secret is used as it should be, or nearly. */
const credentials: Record<string, Place> = {
  'as the ref of a write': s => write(`/v2/things/${s}`, good),
  'as the ref of a refused write': s => write(`/v2/things/${s}?store=perhaps`, 'no JSON'),
  'as the ref of a read': s => ({ path: `/v2/things/${s}/resources/n?limit=1000` }),
  'as the ref of a list': s => ({ path: `/v2/things/${s}/resources` }),
  'as the ref of a write in a format': s => write(`/v2/things/${s}/write/value/n`, '1'),
  'as the format of a write': (s, { token }) => write(`/v2/things/${token}/write/${s}`, '1'),
  'as the ref of a list of refused writes': s => ({ path: `/v2/things/${s}/errors` }),
  'as a percent-encoded ref': s => write(`/v2/things/${percentEncoded(s)}`, good),
  'as a ref behind doubled slashes': s => write(`//v2//things///${s}/`, good),
  'as the ref of a delete': s => ({ method: 'DELETE', path: `/v2/things/${s}/resources/n` }),
  'as the ref of a method that there is not': s => ({ method: 'PUT', path: `/v2/things/${s}`, body: good }),
  'as a ref with a broken encoding': s => ({ path: `/v2/things/${s}%E0%A4%A` }),
  'as thingToken of the date': s => ({ path: `/v2/utils/date?thingToken=${s}` }),
  'as thingToken with a wrong format': s => ({ path: `/v2/utils/date?thingToken=${s}&format=${s}` }),
  'as Authorization': (s, { thingId }) => write(`/v2/things/${thingId}`, good, { authorization: s }),
  'as Bearer': (s, { thingId }) => write(`/v2/things/${thingId}`, good, { authorization: `Bearer ${s}` }),
  'as Bearer of a refused write': (s, { thingId }) =>
    write(`/v2/things/${thingId}`, '[]', { authorization: `bearer  ${s}` }),
  'as Basic': (s, { thingId }) => write(`/v2/things/${thingId}`, good, { authorization: basic(s) }),
  'as Bearer of an operator': s => ({ path: '/v2/admin/things?limit=1', headers: { authorization: s } }),
  'as activation code': s => write('/v2/things', JSON.stringify({ activationCode: s })),
  'as session of a stream that there is not': s => ({ path: `/v2/things/aaaaaaaaaaaaaaaa?session=${s}` }),
  'as the ref of a post to a source': s => write(`/v2/sources/${s}?event=${s}`, good),
  'as the ref of a refused post to a source': s => write(`/v2/sources/${s}`, `no JSON ${s}`),
  'as Basic of a post to a source': (s, { thingId }) =>
    write(`/v2/sources/${thingId}`, good, { authorization: basic(s) }),
  'as Token of a write to InfluxDB 2': s =>
    write(`/api/v2/write?bucket=${s}`, `m,host=${s} v=`, { authorization: `Token ${s}` }),
  'as user and password of a write to InfluxDB 1': s =>
    write(`/write?db=${s}&u=${s}&p=${s}`, `m,host=${s} v=`),
  'as what InfluxDB is asked': s => write(`/query?u=${s}&p=${s}`, `q=${s}`),
  'as login of a ping': s => ({ path: `/ping?verbose=true&u=${s}&p=${s}` }),
  'as an answered ref of HEAD': s => ({ method: 'HEAD', path: `/v2/things/${s}` }),
}

/** Where it has no business to be. */
const mistakes: Record<string, Place> = {
  'cut off as X-Request-Id': (s, { token }) =>
    write(`/v2/things/${token}`, good, { 'x-request-id': s.slice(0, 30) }),
  'cut off as a segment of a path': s => ({ path: `/v2/things/${s.slice(0, 24)}/resources/${s.slice(-24)}` }),
  'as a key': (s, { token }) => ({ path: `/v2/things/${token}/resources/${s}` }),
  'as a key with a query': (s, { token }) => ({
    path: `/v2/things/${token}/resources/$${s}?startDate=${s}&cursor=${s}&aggregate=${s}&interval=${s}&order=${s}`,
  }),
  'as keys and a time zone': (s, { token }) => ({
    path: `/v2/things/${token}/aggregates?keys=${s}&aggregate=${s}&interval=${s}&tz=${s}&points=${s}&empty=${s}`,
  }),
  'as a time zone': (s, { token }) => ({ path: `/v2/things/${token}/resources/n?points=8&tz=${s}` }),
  'as a cursor': (s, { token }) => ({ path: `/v2/things/${token}/resources/n?cursor=${s}` }),
  'as flags': (s, { token }) => write(`/v2/things/${token}?store=${s}&broadcast=${s}`, good),
  'as an unknown parameter': (s, { token }) => write(`/v2/things/${token}?${s}=${s}`, good),
  'as Idempotency-Key': (s, { token }) => write(`/v2/things/${token}`, good, { 'idempotency-key': s }),
  'as Idempotency-Key that is too long': (s, { token }) =>
    write(`/v2/things/${token}`, good, { 'idempotency-key': s + s }),
  'in headers that nobody reads': (s, { token }) =>
    write(`/v2/things/${token}`, good, {
      cookie: `token=${s}`,
      referer: `http://localhost/${s}`,
      'user-agent': s,
      'x-request-id': s,
      'request-id': s,
      'x-forwarded-for': s,
      'x-api-key': s,
      [`x-${s}`]: s,
      origin: `https://${s}.example`,
      accept: `text/${s}`,
    }),
  'as Host': (s, { token }) => write(`/v2/things/${token}`, good, { host: s }),
  'as Content-Type': (s, { token }) => write(`/v2/things/${token}`, good, { 'content-type': `text/${s}` }),
  'as a type that is refused': (s, { token }) =>
    write(`/v2/things/${token}`, s, { 'content-type': `image/${s}` }),
  'as Content-Encoding': (s, { token }) => write(`/v2/things/${token}`, s, { 'content-encoding': s }),
  'as Last-Event-ID': s => ({ path: '/v2/things/x', headers: { 'last-event-id': s } }),
  'as an unknown path': s => ({ path: `/${s}` }),
  'as an unknown path of the operator': s => ({ path: `/v2/admin/${s}/${s}` }),
  'as thing, token and session of the operator': s => ({
    method: 'DELETE',
    path: `/v2/admin/things/${s}/tokens/${s}?session=${s}`,
    headers: { authorization: `Bearer ${s}x` },
  }),
  'as WebSocket': s => ({
    path: `/mqtt?session=${s}`,
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': s,
      'sec-websocket-protocol': s,
    },
  }),
}

const places: readonly [name: string, place: Place][] = [
  ...Object.entries(credentials),
  ...Object.entries(mistakes),
  ...[...Object.entries(bodies), ...Object.entries(spelledBodies)].map(([name, body]): [string, Place] => [
    name,
    (s, { token }) => write(`/v2/things/${token}`, body(s)),
  ]),
]

/** Bytes that are no HTTP. */
const malformedRequests: readonly [name: string, bytes: (secret: string) => string][] = Object.entries({
  'as method': s => `${s} / HTTP/1.1\r\n\r\n`,
  'as version': s => `GET / HTTP/${s}\r\n\r\n`,
  'as a header without a colon': s => `GET /v2/things/${s} HTTP/1.1\r\nAuthorization ${s}\r\n\r\n`,
  'behind a NUL': s => `GET /v2/things/${s} HTTP/1.1\r\nAuthorization: \0${s}\r\n\r\n`,
  'as a length': s => `POST /v2/things/${s} HTTP/1.1\r\nContent-Length: ${s}\r\n\r\n`,
  'as an encoding': s => `POST /v2/things/${s} HTTP/1.1\r\nTransfer-Encoding: ${s}\r\n\r\n`,
  'as the size of a chunk': s =>
    `POST /v2/things/${s} HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n${s}\r\n${s}\r\n`,
  'in a body that is cut off': s => `POST /v2/things/${s} HTTP/1.1\r\nContent-Length: 999\r\n\r\n${s}`,
  'in too many headers': s => `GET /v2/things/${s} HTTP/1.1\r\n${`Authorization: ${s}\r\n`.repeat(500)}\r\n`,
  'in bytes behind a request': s =>
    `POST /v2/things/${s} HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}${s} ${s}\r\n\r\n`,
  'as an expectation': s => `POST /v2/things/${s} HTTP/1.1\r\nExpect: ${s}\r\nContent-Length: 0\r\n\r\n`,
  'as a target of CONNECT': s => `CONNECT ${s}:443 HTTP/1.1\r\nHost: ${s}\r\n\r\n`,
  'in an absolute target': s =>
    `POST http://${s}@localhost/v2/things/${s} HTTP/1.1\r\nContent-Length: 0\r\n\r\n`,
  'as MQTT on the port of HTTP': s => `\x10\x40\0\x04MQTT\x04\x02\0\0\0\x2b${s}`,
} satisfies Record<string, (secret: string) => string>)

keepsSecrets('over HTTP', {
  play: async ({ server, player, secret, take }) => {
    for (const [name, place] of places) await take(name, sendRequest(server.url, place(secret, player)))
    for (const [name, bytes] of malformedRequests) await take(name, sendBytes(server.url, bytes(secret)))
  },
})

/** Milliseconds for one request. */
const deadline = 20_000

/** Sends bytes and closes its half. @returns everything that was answered */
async function sendBytes(url: string, bytes: string | Uint8Array): Promise<Buffer> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
  const late = setTimeout(() => socket.destroy(new Error('the server has not closed in time')), deadline)
  const answer: Buffer[] = []
  socket.on('data', part => answer.push(part))
  socket.end(bytes)
  return await new Promise((resolve, reject) => {
    let problem: NodeJS.ErrnoException | undefined
    socket.on('error', error => {
      problem = error
    })
    socket.once('close', () => {
      clearTimeout(late)
      // A server may close on what it does not want to read to the end.
      const isReset = problem?.code === 'ECONNRESET' || problem?.code === 'EPIPE'
      if (problem && !isReset) reject(problem)
      else resolve(Buffer.concat(answer))
    })
  })
}

/** Sends a request as it is spelled, which no client library would do. */
async function sendRequest(url: string, request: HttpPlace): Promise<Buffer> {
  const { method = 'GET', path, headers = {}, body } = request
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const lines = Object.entries({ host: 'localhost', connection: 'close', ...length, ...headers })
  const head = [`${method} ${path} HTTP/1.1`, ...lines.map(([name, value]) => `${name}: ${value}`), '', '']
  return await sendBytes(url, head.join('\r\n') + (body ?? ''))
}
