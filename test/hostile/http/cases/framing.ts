import { goodBody, type HttpCase, head } from '../case.ts'

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
  ...Object.entries(ambiguous).map(
    ([name, headers]): HttpCase => ({
      name: `${name} is refused`,
      sends: [head(line, host, ...headers), goodBody],
      answers: ['bad_request'],
      closes: true,
    }),
  ),
  ...Object.entries(badChunks).map(
    ([name, body]): HttpCase => ({
      name: `${name} is refused`,
      sends: chunks(body),
      answers: ['bad_request'],
      closes: true,
    }),
  ),
  ...Object.entries(badChunks).map(
    ([name, body]): HttpCase => ({
      name: `${name} is refused where an upgrade is ignored`,
      sends: chunks(body, ...ignoredUpgrade),
      halfCloses: true,
      answers: ['bad_request'],
    }),
  ),
  { name: 'chunks are taken', sends: chunks(goodChunks), answers: [201] },
  {
    name: 'chunks are taken where an upgrade is ignored',
    sends: chunks(goodChunks, ...ignoredUpgrade),
    answers: [201],
  },
  {
    name: 'chunks of one byte are taken',
    sends: chunks(`${[...goodBody].map(byte => `1\r\n${byte}\r\n`).join('')}0\r\n\r\n`),
    answers: [201],
  },
  {
    name: 'a chunk size with a thousand zeros is taken, or refused as a whole',
    sends: chunks(`${'0'.repeat(1_000)}${size}\r\n${goodBody}\r\n0\r\n\r\n`),
    answers: [201],
  },
  {
    name: 'a short chunk extension is ignored',
    sends: chunks(`${size};name="va;lue"\r\n${goodBody}\r\n0\r\n\r\n`),
    answers: [201],
  },
  {
    name: 'trailers are ignored, whatever they are named',
    sends: chunks(`${size}\r\n${goodBody}\r\n0\r\nAuthorization: <admin-key>\r\nHost: b\r\n\r\n`),
    answers: [201],
  },
  {
    name: 'chunked in capitals is chunked',
    sends: [head(line, host, 'TRANSFER-ENCODING: CHUNKED'), goodChunks],
    answers: [201],
  },
  {
    name: 'a write of HTTP/1.0 is taken',
    sends: [head(line.replace('1.1', '1.0'), length), goodBody],
    answers: [201],
    closes: true,
  },
  { name: 'no length is an empty body', sends: [head(line, host)], answers: ['invalid_json'] },
  {
    name: 'a length of 0 is an empty body',
    sends: [head(line, host, 'Content-Length: 0')],
    answers: ['invalid_json'],
  },
  {
    name: 'a length with zeros in front is read as a decimal number',
    sends: [head(line, host, `Content-Length: 000${goodBody.length}`), goodBody],
    answers: [201],
  },
  {
    name: 'a body that is cut off is refused',
    sends: [head(line, host, length), goodBody.slice(0, -1)],
    halfCloses: true,
    answers: ['bad_request'],
  },
  {
    name: 'a body that is cut off is refused where an upgrade is ignored',
    sends: [head(line, host, ...ignoredUpgrade, length), goodBody.slice(0, -1)],
    halfCloses: true,
    answers: ['bad_request'],
  },
  {
    name: 'a body of which nothing comes is refused',
    sends: [head(line, host, length)],
    halfCloses: true,
    answers: ['bad_request'],
  },
  {
    name: 'a length of 2^53 - 1 of which little comes is refused',
    sends: [head(line, host, 'Content-Length: 9007199254740991'), goodBody],
    halfCloses: true,
    answers: ['body_too_large'],
  },
  {
    name: 'chunks that break off are refused',
    sends: chunks(`${size}\r\n${goodBody}\r\n`),
    halfCloses: true,
    answers: ['bad_request'],
  },
  {
    name: 'chunks that break off are refused where an upgrade is ignored',
    sends: chunks(`${size}\r\n${goodBody}\r\n`, 'Connection: Upgrade', 'Upgrade: websocket'),
    halfCloses: true,
    answers: ['bad_request'],
  },
  {
    name: 'a chunk of 2^52 bytes of which little comes is refused',
    sends: chunks(`10000000000000\r\n${goodBody}`),
    halfCloses: true,
    answers: ['bad_request'],
  },
  {
    name: 'chunk extensions that break off are refused',
    sends: chunks(Array.from({ length: 1_000 }, () => `1;${'e'.repeat(100)}\r\n \r\n`).join('')),
    halfCloses: true,
    answers: ['bad_request'],
  },
  {
    name: 'a body that is longer than announced is answered, and what follows is not',
    sends: [head(line, host, length), goodBody, goodBody],
    answers: [201],
    closes: true,
  },
]
