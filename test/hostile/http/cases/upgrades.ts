import { allowedOrigin, get, goodBody, type HttpCase, head, write } from '../case.ts'

const handshake: Readonly<Record<string, string>> = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Key': 'AQEBAQEBAQEBAQEBAQEBAQ==',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Protocol': 'mqtt',
}

const handshakeLines = Object.entries(handshake).map(([name, value]) => `${name}: ${value}`)

function manyHeaders(count: number): readonly string[] {
  return Array.from({ length: count }, (_, place) => `${place.toString(36)}:`)
}

/** A handshake of which some headers are others, or, where they are undefined, not there. */
function upgrade(changes: Readonly<Record<string, string | undefined>>, ...more: readonly string[]) {
  const lines = Object.entries({ ...handshake, ...changes })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}: ${value}`)
  return get('/mqtt', ...lines, ...more)
}

const refused: Record<string, Readonly<Record<string, string | undefined>>> = {
  'without a key': { 'Sec-WebSocket-Key': undefined },
  'with an empty key': { 'Sec-WebSocket-Key': '' },
  'with a key of 15 bytes': { 'Sec-WebSocket-Key': 'AQEBAQEBAQEBAQEBAQEB' },
  'with a key that is no base64': { 'Sec-WebSocket-Key': 'not base64 at all!!!!!!!' },
  'with a key of 10,000 characters': { 'Sec-WebSocket-Key': 'A'.repeat(10_000) },
  'without a version': { 'Sec-WebSocket-Version': undefined },
  'with version 12': { 'Sec-WebSocket-Version': '12' },
  'with version 0': { 'Sec-WebSocket-Version': '0' },
  'with a version that is no number': { 'Sec-WebSocket-Version': '13, 8' },
  'without a subprotocol': { 'Sec-WebSocket-Protocol': undefined },
  'with an empty subprotocol': { 'Sec-WebSocket-Protocol': '' },
  'with another subprotocol': { 'Sec-WebSocket-Protocol': 'mqttv5' },
  'with the subprotocol in capitals': { 'Sec-WebSocket-Protocol': 'MQTT' },
  'with the subprotocol twice': { 'Sec-WebSocket-Protocol': 'mqtt, mqtt' },
  'with a subprotocol that is no token': { 'Sec-WebSocket-Protocol': 'mqtt, a b' },
  'with a comma behind the subprotocol': { 'Sec-WebSocket-Protocol': 'mqtt,' },
  'with 5,000 commas in the subprotocol': { 'Sec-WebSocket-Protocol': `mqtt${','.repeat(5_000)}` },
}

const foreignOrigins = [
  'https://other.example',
  'null',
  '',
  `${allowedOrigin}.other.example`,
  'http://dashboard.example',
  `${allowedOrigin}:443`,
]

const extensions: Record<string, string> = {
  'a list of commas': ','.repeat(1_000),
  'an extension without a name': ';a=b',
  'a quote that does not end': 'permessage-deflate; server_max_window_bits="8',
  'a window of 99 bits': 'permessage-deflate; server_max_window_bits=99',
  'a window twice': 'permessage-deflate; client_max_window_bits; client_max_window_bits',
  __proto__: '__proto__; __proto__=1',
  '1,000 offers': Array.from({ length: 500 }, () => 'permessage-deflate').join(', '),
}

export const upgrades: readonly HttpCase[] = [
  ...Object.entries(refused).map(
    ([name, changes]): HttpCase => ({
      name: `an upgrade ${name} is refused`,
      sends: upgrade(changes),
      answers: ['bad_request'],
      closes: true,
    }),
  ),
  ...foreignOrigins.map(
    (origin): HttpCase => ({
      name: `an upgrade from the origin ${JSON.stringify(origin)} is refused`,
      sends: upgrade({ Origin: origin }),
      answers: ['forbidden'],
      closes: true,
    }),
  ),
  ...Object.entries(extensions).map(
    ([name, value]): HttpCase => ({
      name: `an upgrade with ${name} of extensions has none`,
      sends: upgrade({ 'Sec-WebSocket-Extensions': value }),
      halfCloses: true,
      answers: [101],
      headers: { 'sec-websocket-extensions': undefined },
    }),
  ),
  {
    name: 'a good upgrade',
    sends: upgrade({ Origin: allowedOrigin }),
    halfCloses: true,
    answers: [101],
    headers: { 'sec-websocket-protocol': 'mqtt' },
  },
  {
    name: 'an upgrade with text behind it',
    sends: [...upgrade({}), 'no frame of a WebSocket'],
    answers: [101],
    closes: true,
  },
  {
    name: 'an upgrade with a frame that is not masked',
    sends: [...upgrade({}), Uint8Array.from([0x82, 2, 0x10, 0])],
    answers: [101],
    closes: true,
  },
  {
    name: 'an upgrade with reserved bits in a frame',
    sends: [...upgrade({}), Uint8Array.from([0xf2, 0x80, 0, 0, 0, 0])],
    answers: [101],
    closes: true,
  },
  {
    name: 'an upgrade with a frame of 2^63 bytes',
    sends: [
      ...upgrade({}),
      Uint8Array.from([0x82, 0xff, 0xff, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0]),
    ],
    answers: [101],
    closes: true,
  },
  {
    name: 'an upgrade with a ping of 126 bytes',
    sends: [...upgrade({}), Uint8Array.from([0x89, 0xfe, 0, 126, 0, 0, 0, 0]), Buffer.alloc(126)],
    answers: [101],
    closes: true,
  },
  {
    name: 'an upgrade with a fragment that continues nothing',
    sends: [...upgrade({}), Uint8Array.from([0x80, 0x80, 0, 0, 0, 0])],
    answers: [101],
    closes: true,
  },
  {
    // Those beyond the thousandth are not looked at (CVE-2024-37890).
    name: 'an upgrade behind 2,000 headers is none',
    sends: [head('GET /mqtt HTTP/1.1', ...manyHeaders(2_000), ...handshakeLines)],
    answers: ['websocket_elsewhere'],
  },
  {
    name: 'an upgrade in front of 2,000 headers is one',
    sends: [head('GET /mqtt HTTP/1.1', ...handshakeLines, ...manyHeaders(2_000))],
    halfCloses: true,
    answers: [101],
  },
  {
    name: 'an upgrade without a key in front of 2,000 headers is refused',
    sends: [
      head(
        'GET /mqtt HTTP/1.1',
        ...handshakeLines.filter(line => !line.includes('Key')),
        ...manyHeaders(2_000),
      ),
    ],
    answers: ['bad_request'],
    closes: true,
  },
  {
    name: 'an upgrade of HTTP/1.0 is none',
    sends: [head('GET /mqtt HTTP/1.0', ...handshakeLines)],
    answers: ['websocket_elsewhere'],
    closes: true,
  },
  {
    name: 'an upgrade by POST is no upgrade',
    sends: [head('POST /mqtt HTTP/1.1', ...handshakeLines)],
    answers: ['not_found'],
  },
  {
    name: 'an upgrade to h2c is not taken',
    sends: upgrade({ Upgrade: 'h2c', 'HTTP2-Settings': 'AAMAAABk' }),
    answers: ['websocket_elsewhere'],
  },
  {
    name: 'an upgrade to two protocols is not taken',
    sends: upgrade({ Upgrade: 'websocket, h2c' }),
    answers: ['websocket_elsewhere'],
  },
  {
    name: 'an upgrade to nothing is not taken',
    sends: upgrade({ Upgrade: '' }),
    answers: ['websocket_elsewhere'],
  },
  {
    name: 'an upgrade without Connection is none',
    sends: upgrade({ Connection: undefined }),
    answers: ['websocket_elsewhere'],
  },
  {
    name: 'a write that would be a WebSocket is a write',
    sends: write(goodBody, ...handshakeLines),
    answers: [201],
  },
  ...[
    '/',
    '/v2/things/<token>',
    '/docs',
    '/v2/mqtt',
    '/mqtt/more',
    '/mqttx',
    '/MQTT',
    '/%6dqtt',
    '/./mqtt',
    '/mqtt%00',
    '/mqtt;a',
  ].map(
    (path): HttpCase => ({
      name: `an upgrade at ${path} is told where it belongs`,
      sends: get(path, ...handshakeLines),
      answers: ['websocket_elsewhere'],
    }),
  ),
  {
    name: 'an upgrade with a token in its query says nothing of it',
    sends: [
      head(
        'GET /mqtt?token=<token> HTTP/1.1',
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
      ),
    ],
    answers: ['bad_request'],
    closes: true,
  },
  {
    name: 'an upgrade with a body is answered once',
    sends: [...upgrade({ 'Content-Length': `${goodBody.length}` }), goodBody],
    answers: ['bad_request'],
    closes: true,
  },
  {
    name: 'an upgrade with chunks is answered once',
    sends: [...upgrade({ 'Transfer-Encoding': 'chunked' }), '0\r\n\r\n'],
    answers: ['bad_request'],
    closes: true,
  },
]
