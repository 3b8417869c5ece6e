import { gzipSync } from 'node:zlib'
import type { Reason } from '../../../../src/errors.ts'
import { get, goodBody, type HttpCase, type Part, write } from '../case.ts'

const megabyte = 1_048_576
const packed = gzipSync(goodBody)
/** 64 MiB of zeros in 64 KB. */
const zeros = gzipSync(Buffer.alloc(64 * megabyte), { level: 9 })

/** The gzip with some of its bytes replaced. */
function spoiled(at: number, ...bytes: readonly number[]): Buffer {
  const copy = Buffer.from(packed)
  copy.set(bytes, at < 0 ? copy.length + at : at)
  return copy
}

/** Bodies that are said to be gzip. */
const gzips: Record<string, readonly [Part, Reason | 201]> = {
  'a good gzip': [packed, 201],
  'a gzip in two members': [
    Buffer.concat([gzipSync(goodBody.slice(0, 9)), gzipSync(goodBody.slice(9))]),
    201,
  ],
  'a gzip of nothing': [gzipSync(''), 'invalid_json'],
  'a gzip in a gzip': [gzipSync(packed), 'invalid_utf8'],
  'a bomb of 64 MiB': [zeros, 'body_too_large'],
  'a bomb of 1 GB in sixteen members': [Buffer.concat(Array(15).fill(zeros)), 'body_too_large'],
  'a bomb in a bomb': [gzipSync(zeros, { level: 9 }), 'invalid_utf8'],
  'a bomb behind a good member': [Buffer.concat([packed, zeros]), 'body_too_large'],
  'a gzip of one byte more than the limit': [gzipSync(Buffer.alloc(megabyte + 1, ' ')), 'body_too_large'],
  'a gzip of the limit': [gzipSync(goodBody.padEnd(megabyte)), 201],
  'a gzip of 10,000 empty members': [Buffer.concat(Array(10_000).fill(gzipSync(''))), 'invalid_json'],
  'a gzip larger than the limit': [Buffer.alloc(2 * megabyte, packed), 'body_too_large'],
  'a gzip that breaks off': [packed.subarray(0, -9), 'invalid_content_encoding'],
  'a gzip without its checksum': [packed.subarray(0, -8), 'invalid_content_encoding'],
  'a gzip with a head alone': [packed.subarray(0, 10), 'invalid_content_encoding'],
  'a gzip of one byte': [packed.subarray(0, 1), 'invalid_content_encoding'],
  'a gzip with a wrong checksum': [spoiled(-8, 0xde, 0xad), 'invalid_content_encoding'],
  'a gzip with a wrong length': [spoiled(-4, 0xff, 0xff, 0xff, 0xff), 'invalid_content_encoding'],
  'a gzip with another method': [spoiled(2, 9), 'invalid_content_encoding'],
  'a gzip with reserved flags': [spoiled(3, 0xe0), 'invalid_content_encoding'],
  'a gzip with a name that does not end': [spoiled(3, 8), 'invalid_content_encoding'],
  'a gzip with a block of the reserved kind': [spoiled(10, 0xff), 'invalid_content_encoding'],
  'a gzip with a member that is none behind it': [
    Buffer.concat([packed, Buffer.from([0x1f, 0x8b, 9])]),
    'invalid_content_encoding',
  ],
  'a gzip with garbage behind it': [
    Buffer.concat([packed, Buffer.from('garbage')]),
    'invalid_content_encoding',
  ],
  'zlib without gzip': [Buffer.from([0x78, 0x9c, 0x03, 0x00, 0, 0, 0, 1]), 'invalid_content_encoding'],
  'plain JSON': [goodBody, 'invalid_content_encoding'],
  'an empty body': ['', 'invalid_content_encoding'],
}

/** What Content-Encoding says, of a body that is plain JSON. */
const codings: Record<string, Reason | 201> = {
  'gzip, gzip': 'unsupported_encoding',
  'gzip, identity': 'unsupported_encoding',
  'identity, gzip': 'unsupported_encoding',
  br: 'unsupported_encoding',
  deflate: 'unsupported_encoding',
  zstd: 'unsupported_encoding',
  compress: 'unsupported_encoding',
  '*': 'unsupported_encoding',
  'gzip;q=1': 'unsupported_encoding',
  '"gzip"': 'unsupported_encoding',
  __proto__: 'unsupported_encoding',
  chunked: 'unsupported_encoding',
  identity: 201,
  IDENTITY: 201,
  '': 201,
}

/** What Content-Type says, of a body that is plain JSON. */
const types: Record<string, Reason | 201> = {
  'application/msgpack': 'unsupported_media_type',
  'application/cbor; charset=utf-8': 'unsupported_media_type',
  'APPLICATION/X-PROTOBUF': 'unsupported_media_type',
  'image/png': 'unsupported_media_type',
  'multipart/form-data; boundary=a': 'unsupported_media_type',
  'application/json; charset=utf-16': 201,
  'application/x-www-form-urlencoded': 201,
  'text/xml': 201,
  'application/json, application/msgpack': 201,
  '/': 201,
  ';;;;': 201,
  [`a/${'b'.repeat(10_000)}`]: 201,
  [`application/${'x-'.repeat(5_000)}msgpack`]: 201,
  [`${'a;'.repeat(5_000)}+gzip`]: 201,
  __proto__: 201,
  '\xff\xfe': 201,
}

export const encodings: readonly HttpCase[] = [
  ...Object.entries(gzips).map(
    ([name, [body, answer]]): HttpCase => ({
      name: `${name} as gzip`,
      sends: write(body, 'Content-Encoding: gzip'),
      answers: [answer],
    }),
  ),
  ...Object.entries(codings).map(
    ([coding, answer]): HttpCase => ({
      name: `a Content-Encoding of ${JSON.stringify(coding)}`,
      sends: write(goodBody, `Content-Encoding: ${coding}`),
      answers: [answer],
    }),
  ),
  ...Object.entries(types).map(
    ([type, answer]): HttpCase => ({
      name: `a Content-Type of ${JSON.stringify(type.slice(0, 60))}`,
      sends: write(goodBody, `Content-Type: ${type}`),
      answers: [answer],
    }),
  ),
  {
    name: 'two Content-Encodings',
    sends: write(packed, 'Content-Encoding: gzip', 'Content-Encoding: gzip'),
    answers: ['unsupported_encoding'],
  },
  {
    name: 'two Content-Types of which the first is JSON',
    sends: write(goodBody, 'Content-Type: application/json', 'Content-Type: image/png'),
    answers: [201],
  },
  {
    name: 'gzip in capitals with spaces',
    sends: write(packed, 'Content-Encoding:   GZIP  '),
    answers: [201],
  },
  {
    name: 'a Content-Encoding on a request that reads',
    sends: get('/v2/things/<token>/resources', 'Content-Encoding: br'),
    answers: [200],
  },
  {
    name: 'an Accept-Encoding of nothing that there is',
    sends: get('/v2/things/<token>/resources', 'Accept-Encoding: identity;q=0, *;q=0'),
    answers: [200],
  },
]
