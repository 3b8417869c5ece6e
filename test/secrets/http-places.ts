import { jsonEscaped, percentEncoded } from './forms.ts'

/** A request, with which whoever sends it puts a secret into a place. */
export interface HttpPlace {
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
const record = (members: string) => `{"values":[{"key":"n","value":1,${members}}]}`
const basic = (secret: string) => `Basic ${Buffer.from(`user:${secret}`).toString('base64')}`

/** Where a secret is used as it should be, or nearly. */
const credentials: Record<string, Place> = {
  'as the ref of a write': s => write(`/v2/things/${s}`, good),
  'as the ref of a refused write': s => write(`/v2/things/${s}?store=perhaps`, 'no JSON'),
  'as the ref of a read': s => ({ path: `/v2/things/${s}/resources/n?limit=1000` }),
  'as the ref of a list': s => ({ path: `/v2/things/${s}/resources` }),
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

/** Bodies that are refused, or have more in them than is read. */
const bodies: Record<string, (secret: string) => string> = {
  'in a body that is no JSON': s => `token=${s}&value=1`,
  'in quotes that are no object': s => JSON.stringify(s),
  'as an unknown member': s => `{"token":"${s}","${s}":1,"values":[{"key":"n","value":1,"token":"${s}"}]}`,
  'as an unknown member of a refused write': s => `{"token":"${s}","values":[]}`,
  'as write id': s => `{"id":"${s}","values":[{"key":"n","value":1}]}`,
  'as write id of a refused write': s => `{"id":"${s}","values":[{"key":"","value":1}]}`,
  'as write id that is too long': s => `{"id":"${s}${s}","values":[{"key":"n","value":1}]}`,
  'in a refused key': s => `{"values":[{"key":"${s}/${s}","value":1}]}`,
  'in a magic key': s => `{"values":[{"key":"$${s}","value":1}]}`,
  'in a settings path': s => `{"values":[{"key":"$settings.${s}!","value":1}]}`,
  'in a value beside a refused key': s => `{"values":[{"key":"","value":"${s}"}]}`,
  'in a value beside a good record': s => `{"values":[{"key":"n","value":1},{"key":"","value":"${s}"}]}`,
  'in a partial write': s =>
    `{"partial":true,"values":[{"key":"n","value":1},{"key":"$${s}","value":"${s}"}]}`,
  'as datetime': s => record(`"datetime":"${s}"`),
  'as position': s => record(`"geo":{"lat":"${s}","long":"${s}"}`),
  'as flag': s => `{"store":"${s}","values":[{"key":"n","value":1}]}`,
  'as a forbidden member': s => record(`"value":{"__proto__":{"${s}":"${s}"}}`),
  'across the cut of the excerpt': s => `{"values":[{"key":"","value":"${'.'.repeat(140)}${s}"}]}`,
  'across the cut after letters': s => `{"values":[{"key":"","value":"${'é'.repeat(150)}-${s}"}]}`,
  'behind an escape': s => `{"values":[{"key":"","value":"\\u00${s}"}]}`,
  'in a Basic credential': s => `{"values":[{"key":"","value":"${basic(s)}"}]}`,
  'in a URL': s => `{"values":[{"key":"","value":"http://localhost/v2/things/${s}?a"}]}`,
}

/** The same, spelled or cut on the way. Not in wills: what waits to be written is kept as it came (contract §12). */
const spelledBodies: Record<string, (secret: string) => string> = {
  'in a form that is percent-encoded': s => `token=${percentEncoded(s).toLowerCase()}&value=1`,
  'percent-encoded as an unknown member': s => `{"token":"${percentEncoded(s)}","values":[]}`,
  'percent-encoded twice': s => `{"token":"${percentEncoded(s).replaceAll('%', '%25')}","values":[]}`,
  'in JSON escapes': s => `{"values":[{"key":"","value":"${jsonEscaped(s)}"}]}`,
  'in JSON escapes as write id': s => `{"id":"${jsonEscaped(s)}","values":[]}`,
  'in UTF-16': s => [...`{"token":"${s}"}`].join('\0'),
  'in lines': s => `${s.replace(/.{11}/g, '$&\r\n')}`,
  'cut off by a small buffer': s => `{"values":[{"key":"n","value":1}],"token":"${s.slice(0, 33)}`,
  'cut off shorter': s => `{"values":[{"key":"n","value":1}],"token":"${s.slice(0, 24)}`,
  'the end of it alone': s => `{"values":[{"key":"${s.slice(-25)}!","value":1}]}`,
  'cut off as write id': s => `{"id":"${s.slice(0, 32)}","values":[]}`,
}

export const httpPlaces: readonly [name: string, place: Place][] = [
  ...Object.entries(credentials),
  ...Object.entries(mistakes),
  ...[...Object.entries(bodies), ...Object.entries(spelledBodies)].map(([name, body]): [string, Place] => [
    name,
    (s, { token }) => write(`/v2/things/${token}`, body(s)),
  ]),
]

/** Bodies of writes, for the other door. */
export const bodyPlaces = Object.entries(bodies)
export const spelledBodyPlaces = Object.entries(spelledBodies)

/** Bytes that are no HTTP. */
export const malformedRequests: readonly [name: string, bytes: (secret: string) => string][] = Object.entries(
  {
    'as method': s => `${s} / HTTP/1.1\r\n\r\n`,
    'as version': s => `GET / HTTP/${s}\r\n\r\n`,
    'as a header without a colon': s => `GET /v2/things/${s} HTTP/1.1\r\nAuthorization ${s}\r\n\r\n`,
    'behind a NUL': s => `GET /v2/things/${s} HTTP/1.1\r\nAuthorization: \0${s}\r\n\r\n`,
    'as a length': s => `POST /v2/things/${s} HTTP/1.1\r\nContent-Length: ${s}\r\n\r\n`,
    'as an encoding': s => `POST /v2/things/${s} HTTP/1.1\r\nTransfer-Encoding: ${s}\r\n\r\n`,
    'as the size of a chunk': s =>
      `POST /v2/things/${s} HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n${s}\r\n${s}\r\n`,
    'in a body that is cut off': s => `POST /v2/things/${s} HTTP/1.1\r\nContent-Length: 999\r\n\r\n${s}`,
    'in too many headers': s =>
      `GET /v2/things/${s} HTTP/1.1\r\n${`Authorization: ${s}\r\n`.repeat(500)}\r\n`,
    'in bytes behind a request': s =>
      `POST /v2/things/${s} HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}${s} ${s}\r\n\r\n`,
    'as an expectation': s => `POST /v2/things/${s} HTTP/1.1\r\nExpect: ${s}\r\nContent-Length: 0\r\n\r\n`,
    'as a target of CONNECT': s => `CONNECT ${s}:443 HTTP/1.1\r\nHost: ${s}\r\n\r\n`,
    'in an absolute target': s =>
      `POST http://${s}@localhost/v2/things/${s} HTTP/1.1\r\nContent-Length: 0\r\n\r\n`,
    'as MQTT on the port of HTTP': s => `\x10\x40\0\x04MQTT\x04\x02\0\0\0\x2b${s}`,
  } satisfies Record<string, (secret: string) => string>,
)
