import { allowedOrigin, answered, each, get, goodBody, type HttpCase, head, rows, write } from '../case.ts'

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
  ['__proto__']: '__proto__; __proto__=1',
  '1,000 offers': Array.from({ length: 500 }, () => 'permessage-deflate').join(', '),
}

/** What the server reads as a frame. */
const behind: Record<string, string | readonly number[]> = {
  text: 'no frame of a WebSocket',
  'a frame that is not masked': [0x82, 2, 0x10, 0],
  'reserved bits in a frame': [0xf2, 0x80, 0, 0, 0, 0],
  'a frame of 2^63 bytes': [0x82, 0xff, 0xff, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0],
  'a ping of 126 bytes': [0x89, 0xfe, 0, 126, 0, 0, 0, 0, ...Buffer.alloc(126)],
  'a fragment that continues nothing': [0x80, 0x80, 0, 0, 0, 0],
}

/** Paths at which there is no WebSocket. */
const others = [
  ...['/', '/v2/things/<token>', '/docs', '/v2/mqtt', '/mqtt/more', '/mqttx', '/MQTT', '/%6dqtt', '/./mqtt'],
  ...['/mqtt%00', '/mqtt;a'],
]

export const upgrades: readonly HttpCase[] = [
  ...each('closed', 'an upgrade * is refused', refused, changes => [upgrade(changes), 'bad_request']),
  ...each('closed', 'an upgrade from the origin "*" is refused', foreignOrigins, origin => [
    upgrade({ Origin: origin }),
    'forbidden',
  ]),
  ...each('closed', 'an upgrade with * behind it', behind, bytes => [
    [...upgrade({}), typeof bytes === 'string' ? bytes : Uint8Array.from(bytes)],
    101,
  ]),
  ...each('half-closed', 'an upgrade with * of extensions has none', extensions, value => [
    upgrade({ 'Sec-WebSocket-Extensions': value }),
    101,
    { 'sec-websocket-extensions': undefined },
  ]),
  ...rows('half-closed', {
    'a good upgrade': [upgrade({ Origin: allowedOrigin }), 101, { 'sec-websocket-protocol': 'mqtt' }],
    'an upgrade in front of 2,000 headers is one': [
      head('GET /mqtt HTTP/1.1', ...handshakeLines, ...manyHeaders(2_000)),
      101,
    ],
  }),
  ...rows('closed', {
    'an upgrade without a key in front of 2,000 headers is refused': [
      head(
        'GET /mqtt HTTP/1.1',
        ...handshakeLines.filter(line => !line.includes('Key')),
        ...manyHeaders(2_000),
      ),
      'bad_request',
    ],
    'an upgrade of HTTP/1.0 is none': [head('GET /mqtt HTTP/1.0', ...handshakeLines), 'websocket_elsewhere'],
    'an upgrade with a token in its query does not come back': [
      head(
        'GET /mqtt?token=<token> HTTP/1.1',
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
      ),
      'bad_request',
    ],
    'an upgrade with a body is answered once': [
      [...upgrade({ 'Content-Length': `${goodBody.length}` }), goodBody],
      'bad_request',
    ],
    'an upgrade with chunks is answered once': [
      [...upgrade({ 'Transfer-Encoding': 'chunked' }), '0\r\n\r\n'],
      'bad_request',
    ],
  }),
  ...rows('open', {
    // Those beyond the thousandth are not looked at (CVE-2024-37890).
    'an upgrade behind 2,000 headers is none': [
      head('GET /mqtt HTTP/1.1', ...manyHeaders(2_000), ...handshakeLines),
      'websocket_elsewhere',
    ],
    'an upgrade by POST is no upgrade': [head('POST /mqtt HTTP/1.1', ...handshakeLines), 'not_found'],
    'an upgrade to h2c is not taken': [
      upgrade({ Upgrade: 'h2c', 'HTTP2-Settings': 'AAMAAABk' }),
      'websocket_elsewhere',
    ],
    'an upgrade to two protocols is not taken': [
      upgrade({ Upgrade: 'websocket, h2c' }),
      'websocket_elsewhere',
    ],
    'an upgrade to nothing is not taken': [upgrade({ Upgrade: '' }), 'websocket_elsewhere'],
    'an upgrade without Connection is none': [upgrade({ Connection: undefined }), 'websocket_elsewhere'],
    'a write that would be a WebSocket is a write': [write(goodBody, ...handshakeLines), 201],
  }),
  ...answered(
    'an upgrade at * is refused with the path of the WebSocket',
    { websocket_elsewhere: others },
    path => get(path, ...handshakeLines),
  ),
]
