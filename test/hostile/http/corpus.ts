import { allowedOrigin, get, head, type Part } from './case.ts'

/** Bodies of good writes. */
export const goodBodies: readonly [object, ...object[]] = [
  { values: [{ key: 'temperature', value: 21.5 }] },
  {
    values: [
      { key: 'hostile', value: 'text', geo: { lat: 41.41, long: '2.22' }, datetime: '20260101000000' },
    ],
  },
  {
    values: [
      { key: 'a', value: { b: [1, 2, { c: null }] }, datetime: '2026-01-01T00:00:00.123+01:00' },
      { key: 'b.c-d_e', value: false },
      { key: '$geo', value: [2.22, 41.41] },
      { key: '$settings', value: { name: 'n', limits: { low: 1 } } },
      { key: '$settings.limits.high', value: 2 },
    ],
    id: 'write-1',
    store: true,
  },
  { values: Array.from({ length: 50 }, (_, place) => ({ key: 'many', value: place })), partial: true },
  { values: [{ key: 'live', value: 'only' }], store: false, broadcast: true },
]

const thing = '/v2/things/<token>'
const body = JSON.stringify(goodBodies[1])
const nested = '{"hostile":{"a":1.5,"b":[1,{"c":null}]},"datetime":"2026-01-01T00:00:00+01:00"}'
const line = 'hostile,a=b\\ c d=1.5,e="f g",h=2i,i=t 1465839830100400200'
const admin = 'Authorization: Bearer <admin-key>'

/** Good requests of every kind that leaves the server as it is, streams excepted, since they do not end. */
export const goodRequests: readonly [readonly Part[], ...(readonly Part[])[]] = [
  [head(`POST ${thing}?partial=true HTTP/1.1`, 'Host: a', `Content-Length: ${body.length}`), body],
  [
    head(
      'POST /v2/things/<id> HTTP/1.1',
      'Host: a',
      'Authorization: Bearer <token>',
      'Content-Type: application/json',
      'Idempotency-Key: i-1',
      'Transfer-Encoding: chunked',
    ),
    `${body.length.toString(16)};a=b\r\n${body}\r\n0\r\nX-Trailer: t\r\n\r\n`,
  ],
  [head(`POST ${thing}/write/value/cellar/temperature HTTP/1.1`, 'Host: a', 'Content-Length: 4'), '21.5'],
  [head(`POST ${thing}/write/json/cellar HTTP/1.1`, 'Host: a', `Content-Length: ${nested.length}`), nested],
  [head(`POST ${thing}/write/influx HTTP/1.1`, 'Host: a', `Content-Length: ${line.length}`), line],
  get(`${thing}/resources/hostile?limit=10&order=asc&startDate=20200101000000`, 'Accept: text/csv'),
  get(`${thing}/resources/temperature?aggregate=avg,min,max,sum,count,first,last&interval=1h&limit=5`),
  get(
    `${thing}/aggregates?keys=temperature,hostile&aggregate=avg,count&interval=1d&tz=Asia/Kathmandu&empty=true`,
  ),
  get(`${thing}/aggregates?keys=temperature,$geo&points=800&order=asc`),
  get(`${thing}/resources/$geo`, 'Accept: application/json'),
  get(`${thing}/resources/$settings.limits.low`),
  get(`${thing}/resources`, `Origin: ${allowedOrigin}`),
  get(`${thing}/all_resources?limit=2`),
  get(`${thing}/errors?limit=5`),
  get('/v2/utils/date?thingToken=<token>&format=unix_timestamp'),
  get('/v2/admin/things?limit=10&name=a&bbox=-10,-10,10,10', admin),
  get('/healthz'),
  [head(`DELETE ${thing}/resources/hostile?startDate=20200101000000&endDate=20200102000000 HTTP/1.1`, admin)],
  [
    head(
      `OPTIONS ${thing} HTTP/1.1`,
      `Origin: ${allowedOrigin}`,
      'Access-Control-Request-Headers: authorization',
    ),
  ],
  [head('POST /v2/things HTTP/1.1', 'Content-Length: 25'), '{"activationCode":"none"}'],
  get(
    '/mqtt',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Key: AQEBAQEBAQEBAQEBAQEBAQ==',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Protocol: mqtt',
  ),
]
