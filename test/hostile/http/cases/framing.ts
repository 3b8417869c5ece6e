import { type Answered, answered, each, get, goodBody, type HttpCase, head, rows, write } from '../case.ts'

const line = 'POST /v2/things/<token> HTTP/1.1'
const host = 'Host: a'
const length = `Content-Length: ${goodBody.length}`
const chunked = 'Transfer-Encoding: chunked'
const size = goodBody.length.toString(16)
const goodChunks = `${size}\r\n${goodBody}\r\n0\r\n\r\n`

/** Headers from which two parsers may read two lengths. */
const ambiguous: Record<string, readonly string[]> = {
  'two equal Content-Lengths': [length, length],
  'two Content-Lengths': [length, 'Content-Length: 1'],
  'a list of Content-Lengths': [`${length}, ${goodBody.length}`],
  'a negative Content-Length': ['Content-Length: -1'],
  'a Content-Length with a plus': [`Content-Length: +${goodBody.length}`],
  'a hexadecimal Content-Length': [`Content-Length: 0x${size}`],
  'a Content-Length with a point': [`${length}.0`],
  'a Content-Length with an exponent': ['Content-Length: 1e1'],
  'a Content-Length with a space in it': ['Content-Length: 3 9'],
  'an empty Content-Length': ['Content-Length:'],
  'a Content-Length in words': ['Content-Length: many'],
  'a Content-Length beyond 64 bits': ['Content-Length: 99999999999999999999'],
  'a Content-Length that overflows 64 bits to a small number': ['Content-Length: 18446744073709551617'],
  'a Content-Length with a space before its colon': [`Content-Length : ${goodBody.length}`],
  'Content-Length and Transfer-Encoding': [length, chunked],
  'Transfer-Encoding and Content-Length': [chunked, length],
  'a Transfer-Encoding of identity': ['Transfer-Encoding: identity', length],
  'a Transfer-Encoding that does not end with chunked': ['Transfer-Encoding: chunked, identity'],
  'a Transfer-Encoding that is unknown': ['Transfer-Encoding: xchunked'],
  'a Transfer-Encoding with a control character': ['Transfer-Encoding: \x0bchunked'],
  'a Transfer-Encoding with a space before its colon': ['Transfer-Encoding : chunked'],
  'a Transfer-Encoding in quotes': ['Transfer-Encoding: "chunked"'],
  'a folded Transfer-Encoding': ['Transfer-Encoding:', ' chunked'],
  'a Content-Length with a CR in front': ['X: a\rContent-Length: 5'],
}

/** Chunks that are none. */
const badChunks: Record<string, string> = {
  'a negative chunk': `-1\r\n${goodBody}\r\n0\r\n\r\n`,
  'a chunk size with 0x': `0x${size}\r\n${goodBody}\r\n0\r\n\r\n`,
  'a chunk size that is no number': `zz\r\n${goodBody}\r\n0\r\n\r\n`,
  'an empty chunk size': `\r\n${goodBody}\r\n0\r\n\r\n`,
  'a chunk size beyond 64 bits': `FFFFFFFFFFFFFFFFFF\r\n${goodBody}\r\n0\r\n\r\n`,
  'a chunk size with a space in front': ` ${size}\r\n${goodBody}\r\n0\r\n\r\n`,
  'a chunk size with a plus': `+${size}\r\n${goodBody}\r\n0\r\n\r\n`,
  'a chunk size that ends with LF alone': `${size}\n${goodBody}\r\n0\r\n\r\n`,
  'a chunk that is longer than its size': `5\r\n${goodBody}\r\n0\r\n\r\n`,
  'a chunk that ends with LF alone': `${size}\r\n${goodBody}\n0\r\n\r\n`,
  'a chunk extension of 64 KiB': `${size};${'e'.repeat(65_536)}\r\n${goodBody}\r\n0\r\n\r\n`,
  'a chunk extension with a LF': `${size};a\nb\r\n${goodBody}\r\n0\r\n\r\n`,
  'a chunk extension with a NUL': `${size};a\0b\r\n${goodBody}\r\n0\r\n\r\n`,
  'trailers of 64 KiB': `${size}\r\n${goodBody}\r\n0\r\nX-A: ${'b'.repeat(65_536)}\r\n\r\n`,
  'a trailer with a length': `${size}\r\n${goodBody}\r\n0\r\nContent-Length: 5\r\n\r\n`,
  'a trailer that is no header': `${size}\r\n${goodBody}\r\n0\r\nno header\r\n\r\n`,
}

/** Behind it, Node's parser is silent on what it cannot read. */
const ignoredUpgrade = ['Connection: Upgrade', 'Upgrade: h2c']

function chunks(body: string, ...headers: readonly string[]): readonly string[] {
  return [head(line, host, ...headers, chunked), body]
}

export const framing: readonly HttpCase[] = [
  ...each('closed', '* is refused', ambiguous, headers => [
    [head(line, host, ...headers), goodBody],
    'bad_request',
  ]),
  ...each('closed', '* is refused', badChunks, body => [chunks(body), 'bad_request']),
  ...each('half-closed', '* is refused where an upgrade is ignored', badChunks, body => [
    chunks(body, ...ignoredUpgrade),
    'bad_request',
  ]),
  ...rows('open', {
    'chunks are taken': [chunks(goodChunks), 201],
    'chunks are taken where an upgrade is ignored': [chunks(goodChunks, ...ignoredUpgrade), 201],
    'chunks of one byte are taken': [
      chunks(`${[...goodBody].map(byte => `1\r\n${byte}\r\n`).join('')}0\r\n\r\n`),
      201,
    ],
    'a chunk size with a thousand zeros is taken, or refused as a whole': [
      chunks(`${'0'.repeat(1_000)}${size}\r\n${goodBody}\r\n0\r\n\r\n`),
      201,
    ],
    'a short chunk extension is ignored': [chunks(`${size};name="va;lue"\r\n${goodBody}\r\n0\r\n\r\n`), 201],
    'trailers are ignored, whatever they are named': [
      chunks(`${size}\r\n${goodBody}\r\n0\r\nAuthorization: <admin-key>\r\nHost: b\r\n\r\n`),
      201,
    ],
    'chunked in capitals is chunked': [[head(line, host, 'TRANSFER-ENCODING: CHUNKED'), goodChunks], 201],
    'no length is an empty body': [head(line, host), 'invalid_json'],
    'a length of 0 is an empty body': [head(line, host, 'Content-Length: 0'), 'invalid_json'],
    'a length with zeros in front is read as a decimal number': [
      [head(line, host, `Content-Length: 000${goodBody.length}`), goodBody],
      201,
    ],
  }),
  ...rows('closed', {
    'a write of HTTP/1.0 is taken': [[head(line.replace('1.1', '1.0'), length), goodBody], 201],
    'a body that is longer than announced is answered, and what follows is not': [
      [head(line, host, length), goodBody, goodBody],
      201,
    ],
  }),
  ...rows('half-closed', {
    'a body that is cut off is refused': [[head(line, host, length), goodBody.slice(0, -1)], 'bad_request'],
    'a body that is cut off is refused where an upgrade is ignored': [
      [head(line, host, ...ignoredUpgrade, length), goodBody.slice(0, -1)],
      'bad_request',
    ],
    'a body of which nothing comes is refused': [head(line, host, length), 'bad_request'],
    'a length of 2^53 - 1 of which little comes is refused': [
      [head(line, host, 'Content-Length: 9007199254740991'), goodBody],
      'body_too_large',
    ],
    'chunks that break off are refused': [chunks(`${size}\r\n${goodBody}\r\n`), 'bad_request'],
    'chunks that break off are refused where an upgrade is ignored': [
      chunks(`${size}\r\n${goodBody}\r\n`, 'Connection: Upgrade', 'Upgrade: websocket'),
      'bad_request',
    ],
    'a chunk of 2^52 bytes of which little comes is refused': [
      chunks(`10000000000000\r\n${goodBody}`),
      'bad_request',
    ],
    'chunk extensions that break off are refused': [
      chunks(Array.from({ length: 1_000 }, () => `1;${'e'.repeat(100)}\r\n \r\n`).join('')),
      'bad_request',
    ],
  }),
]

/** A request that must never get an answer of its own: it is part of another. */
const hidden = head('GET /v2/things/<other-token>/resources/smuggled HTTP/1.1', 'Host: a')
/** Of `hidden` once its placeholder is filled in. */
const hiddenLength = hidden.length - '<other-token>'.length + 43
const hiddenHeader = `Content-Length: ${hiddenLength}`

const longer = `Content-Length: ${5 + hiddenLength}`
const lastChunk = `0\r\n\r\n${hidden}`

/** Two lengths, of which the one that a proxy might go by hides a request: headers, and the body last. */
const pairs: Record<string, readonly string[]> = {
  'behind a length that is shorter than the chunks': ['Content-Length: 4', chunked, `5c\r\n${hidden}`],
  'behind the last chunk': [longer, chunked, lastChunk],
  'behind a Transfer-Encoding with a space before its colon': [
    ...[longer, 'Transfer-Encoding : chunked', lastChunk],
  ],
  'behind a Transfer-Encoding of two codings': [longer, 'Transfer-Encoding: chunked, cow', lastChunk],
  'behind two Transfer-Encodings': [longer, chunked, 'Transfer-Encoding: cow', lastChunk],
  'behind two Transfer-Encodings without a length': [chunked, 'Transfer-encoding: identity', lastChunk],
  'behind a tab in Transfer-Encoding': [longer, 'Transfer-Encoding:\tchunked', lastChunk],
  'behind a Transfer-Encoding after a LF': [
    'X: a\nTransfer-Encoding: chunked',
    'Content-Length: 6',
    lastChunk,
  ],
  'behind a Transfer-Encoding after a CR': [
    'X: a\rTransfer-Encoding: chunked',
    'Content-Length: 6',
    lastChunk,
  ],
  'behind two lengths': [hiddenHeader, 'Content-Length: 0', hidden],
  'behind a list of lengths': [`Content-Length: 0, ${hiddenLength}`, hidden],
  'behind a length with a sign': ['Content-Length: +0', hidden],
  'behind a length with a NUL': [`Content-Length: 0\0${hiddenLength}`, hidden],
  'in a chunk extension behind a LF': [chunked, `1;\n${hidden}\r\n \r\n0\r\n\r\n`],
  'behind a chunk size that ends with CR alone': [chunked, `1\rx\r\n0\r\n\r\n${hidden}`],
  'behind a chunk with too much data': [chunked, `1\r\n{}\r\n0\r\n\r\n${hidden}`],
  'behind a chunk size that overflows': [chunked, `10000000000000000\r\n0\r\n\r\n${hidden}`],
  'behind a header that a LF begins': ['Content-Length: 0', 'X: a\n\nGET / HTTP/1.1', hidden],
  'behind a folded length': ['Content-Length:', ` ${hiddenLength}`, hidden],
}

/** Requests of which the body could be taken for a request. */
const hiding: Answered<readonly string[]> = {
  200: {
    'a probe': ['GET /healthz HTTP/1.1'],
    'a preflight': ['OPTIONS /v2/things/<token> HTTP/1.1'],
  },
  invalid_body: { 'a GET': ['GET /v2/ HTTP/1.1'] },
  not_found: { 'a request of an unknown path': ['POST /nowhere HTTP/1.1'] },
  method_not_allowed: { 'a method that is not known there': ['DELETE /v2/things/<token> HTTP/1.1'] },
  unknown_thing_token: { 'a refused write': [`POST /v2/things/${'t'.repeat(43)} HTTP/1.1`] },
  invalid_json: {
    'an upgrade to another protocol': [line, ...ignoredUpgrade],
    'a request that waits for an expectation of nobody': [line, 'Expect: nothing'],
  },
}

export const smuggling: readonly HttpCase[] = [
  ...each('closed', 'a request * is not answered', pairs, parts => [
    [head(line, host, ...parts.slice(0, -1)), ...parts.slice(-1)],
    'bad_request',
  ]),
  ...answered('the body of * is not taken for a request', hiding, ([first = '', ...others]) => [
    head(first, host, ...others, hiddenHeader),
    hidden,
  ]),
  ...rows('open', {
    'the chunks at an unknown path are not taken for a request': [
      [
        head('POST /nowhere HTTP/1.1', host, chunked),
        `${hiddenLength.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`,
      ],
      'not_found',
    ],
    'two requests in one go are two': [
      [...write(goodBody), ...write(goodBody)],
      [201, 201],
    ],
    'a hundred requests in one go are a hundred': [
      Array.from({ length: 100 }, () => get('/v2/')).flat(),
      Array.from({ length: 100 }, () => 'invalid_session' as const),
    ],
  }),
  ...rows('closed', {
    'a good request in front of a bad one is answered': [
      [...write(goodBody), 'GET /v2/ HTTP/9.9\r\n\r\n'],
      201,
    ],
    'a request behind one that closes is not answered': [
      [...write(goodBody, 'Connection: close'), ...get('/v2/')],
      201,
    ],
  }),
]
