import { gzipSync } from 'node:zlib'
import type { Reason } from '../../../../src/errors.ts'
import { each, get, goodBody, type HttpCase, type Part, rows, write } from '../case.ts'

const utf16 = Buffer.from(`\ufeff${goodBody}`, 'utf16le')
const record = '{"key":"hostile","value":1}'

function utf8(text: string): Uint8Array {
  return Buffer.from(text)
}

function valued(value: string): string {
  return `{"values":[{"key":"hostile","value":${value}}]}`
}

/** Bodies of a write, and what comes back. */
const bodies: Record<string, readonly [Part, Reason | 201]> = {
  'nothing but a space': [' ', 'invalid_json'],
  'a single NUL': ['\0', 'invalid_json'],
  'a million NULs': ['\0'.repeat(1_000_000), 'invalid_json'],
  'JSON with a NUL behind it': [`${goodBody}\0`, 'invalid_json'],
  'JSON behind a byte order mark': [utf8(`\ufeff${goodBody}`), 201],
  'JSON behind two byte order marks': [utf8(`\ufeff\ufeff${goodBody}`), 'invalid_json'],
  'UTF-16 with a byte order mark': [utf16, 'invalid_utf8'],
  'UTF-16 without one': [Buffer.from(goodBody, 'utf16le'), 'invalid_json'],
  'UTF-32': [Buffer.from([...goodBody].map(byte => `${byte}\0\0\0`).join('')), 'invalid_json'],
  'a byte above 127 in a string': [valued('"\xff"'), 'invalid_utf8'],
  'an overlong NUL': [valued('"\xc0\x80"'), 'invalid_utf8'],
  'an overlong slash': [valued('"\xe0\x80\xaf"'), 'invalid_utf8'],
  'a surrogate in UTF-8': [valued('"\xed\xa0\x80"'), 'invalid_utf8'],
  'a code point beyond Unicode': [valued('"\xf4\x90\x80\x80"'), 'invalid_utf8'],
  'a character that breaks off': [valued('"\xe2\x82"'), 'invalid_utf8'],
  'JSON that breaks off': [goodBody.slice(0, -1), 'invalid_json'],
  'JSON twice': [goodBody + goodBody, 'invalid_json'],
  'JSON with a comma at its end': ['{"values":[],}', 'invalid_json'],
  'JSON with comments': [`/* */${goodBody}`, 'invalid_json'],
  'JSON with single quotes': [goodBody.replaceAll('"', "'"), 'invalid_json'],
  'JSON in the form of a callback': [`callback(${goodBody})`, 'invalid_json'],
  'JSON with a guard in front': [`)]}',\n${goodBody}`, 'invalid_json'],
  'a control character in a string': [valued('"\x01"'), 'invalid_json'],
  NaN: [valued('NaN'), 'invalid_json'],
  Infinity: [valued('-Infinity'), 'invalid_json'],
  'a hexadecimal number': [valued('0x10'), 'invalid_json'],
  'a number with a zero in front': [valued('01'), 'invalid_json'],
  'a bad escape': [valued('"\\x41"'), 'invalid_json'],
  'an escape that breaks off': [valued('"\\ud8"'), 'invalid_json'],
  XML: [
    '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
    'invalid_json',
  ],
  'a form': ['values=1&key=2', 'invalid_json'],
  'a multipart form': [
    '--a\r\nContent-Disposition: form-data; name="b"\r\n\r\nc\r\n--a--\r\n',
    'invalid_json',
  ],
  null: ['null', 'invalid_body'],
  true: ['true', 'invalid_body'],
  'a number': ['1', 'invalid_body'],
  'a string': ['"values"', 'invalid_body'],
  'an array': [`[${goodBody}]`, 'invalid_body'],
  'an empty object': ['{}', 'invalid_values'],
  'values that are no array': ['{"values":{"0":1,"length":1}}', 'invalid_values'],
  'values without a record': ['{"values":[]}', 'invalid_values'],
  'records that are none': ['{"values":[null,1,"a",[],true]}', 'invalid_record'],
  '10,000 records': [`{"values":[${Array.from({ length: 10_000 }, () => record).join()}]}`, 201],
  '10,001 records': [
    `{"values":[${Array.from({ length: 10_001 }, () => record).join()}]}`,
    'too_many_records',
  ],
  '100,000 records that are none': [`{"values":[${'0,'.repeat(99_999)}0]}`, 'too_many_records'],
  '10,000 records that are none': [`{"values":[${'0,'.repeat(9_999)}0]}`, 'invalid_record'],
  'arrays 100,000 deep': ['['.repeat(100_000), 'invalid_json'],
  'arrays 100,000 deep, and closed': [`${'['.repeat(100_000)}${']'.repeat(100_000)}`, 'invalid_body'],
  'objects 100,000 deep': [`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`, 'invalid_values'],
  'a value 100,000 deep': [valued(`${'['.repeat(100_000)}${']'.repeat(100_000)}`), 'value_too_deep'],
  'a value of objects 100,000 deep': [
    valued(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`),
    'value_too_deep',
  ],
  'a value 32 deep': [valued(`${'['.repeat(32)}${']'.repeat(32)}`), 201],
  'a value 33 deep': [valued(`${'['.repeat(33)}${']'.repeat(33)}`), 'value_too_deep'],
  'a field to be ignored 100,000 deep': [
    `{"other":${'['.repeat(100_000)}${']'.repeat(100_000)},"values":[${record}]}`,
    201,
  ],
  'a value with __proto__': [valued('{"__proto__":{"polluted":true}}'), 'forbidden_member'],
  'a value with an escaped __proto__': [valued('{"\\u005f_proto__":{"polluted":true}}'), 'forbidden_member'],
  'a value with constructor': [valued('{"constructor":{"prototype":{}}}'), 'forbidden_member'],
  'a record with __proto__': ['{"values":[{"__proto__":{"key":"hostile","value":1}}]}', 'forbidden_member'],
  'a body with __proto__': [`{"__proto__":{"values":[${record}]}}`, 'forbidden_member'],
  'settings of __proto__': [
    '{"values":[{"key":"$settings.__proto__.polluted","value":true}]}',
    'forbidden_member',
  ],
  'settings with prototype': ['{"values":[{"key":"$settings","value":{"prototype":1}}]}', 'forbidden_member'],
  'a member twice': ['{"values":[{"key":"hostile","key":"other","value":1,"value":2}]}', 201],
  'values twice': [`{"values":[],"values":[${record}]}`, 201],
  'toString as a member of a record': [
    '{"values":[{"key":"hostile","value":1,"toString":1,"valueOf":null}]}',
    201,
  ],
  'a value with toJSON': [valued('{"toJSON":1,"then":1,"length":-1}'), 201],
  'a number that overflows': [valued('1e999'), 'number_out_of_range'],
  'a number that overflows below': [valued('-1e999'), 'number_out_of_range'],
  'a number of 1,000,000 digits': [valued('9'.repeat(1_000_000)), 'number_out_of_range'],
  'a number of 100,000 digits behind the point': [valued(`0.${'1'.repeat(100_000)}`), 201],
  'a number with an endless exponent': [valued(`1e-${'9'.repeat(100_000)}`), 201],
  'a lone surrogate': [valued('"\\ud800"'), 201],
  'a thousand lone surrogates': [valued(`"${'\\udfff'.repeat(1_000)}"`), 201],
  'a string of a NUL': [valued('"\\u0000"'), 201],
  'a string of text that turns round': [utf8(valued('"\u202e\u2066\u200f"')), 201],
  'a string of 1 MiB': [valued(`"${'s'.repeat(1_000_000)}"`), 'value_too_large'],
  'a string of 64 KiB with its quotes': [valued(`"${'s'.repeat(65_534)}"`), 201],
  'a string of 64 KiB without its quotes': [valued(`"${'s'.repeat(65_535)}"`), 'value_too_large'],
  'a string of escapes that are 64 KiB as JSON': [valued(`"${'\\u0001'.repeat(20_000)}"`), 'value_too_large'],
  'an object of 100,000 members': [
    valued(`{${Array.from({ length: 60_000 }, (_, place) => `"m${place}":0`).join()}}`),
    'value_too_large',
  ],
  'a key of 1,000,000 characters': [
    `{"values":[{"key":"${'k'.repeat(1_000_000)}","value":1}]}`,
    'invalid_key',
  ],
  'a key that is a path': ['{"values":[{"key":"../../etc/passwd","value":1}]}', 'invalid_key'],
  'a key that is a wildcard': ['{"values":[{"key":"#","value":1}]}', 'invalid_key'],
  'a key with a NUL': ['{"values":[{"key":"a\\u0000b","value":1}]}', 'invalid_key'],
  'a key that only looks like one': [utf8('{"values":[{"key":"tеmperature","value":1}]}'), 'invalid_key'],
  'a key that is an array': ['{"values":[{"key":["hostile"],"value":1}]}', 'invalid_key'],
  'an unknown magic key': ['{"values":[{"key":"$where","value":"1"}]}', 'unknown_magic_resource'],
  'a key of a dollar': ['{"values":[{"key":"$","value":1}]}', 'unknown_magic_resource'],
  'settings with a path of 1,000 parts': [
    `{"values":[{"key":"$settings${'.a'.repeat(1_000)}","value":1}]}`,
    'invalid_settings_path',
  ],
  'settings with empty path parts': [
    '{"values":[{"key":"$settings...a","value":1}]}',
    'invalid_settings_path',
  ],
  'a position off the globe': ['{"values":[{"key":"$geo","value":[200,100]}]}', 'invalid_position'],
  'a position of strings': ['{"values":[{"key":"$geo","value":["1","2"]}]}', 'invalid_position'],
  'geo of a string without end': [
    `{"values":[{"key":"hostile","value":1,"geo":{"lat":"${'1'.repeat(100_000)}!","long":"1"}}]}`,
    'invalid_geo',
  ],
  'geo of an exponent': [
    '{"values":[{"key":"hostile","value":1,"geo":{"lat":"1e1","long":1}}]}',
    'invalid_geo',
  ],
  'a datetime of 100,000 digits': [
    `{"values":[{"key":"hostile","value":1,"datetime":"2026-01-01T00:00:00.${'1'.repeat(100_000)}Z"}]}`,
    201,
  ],
  'a datetime that is a number': [
    '{"values":[{"key":"hostile","value":1,"datetime":20260101000000}]}',
    'invalid_datetime',
  ],
  'a datetime of the year 9999': [
    '{"values":[{"key":"hostile","value":1,"datetime":"99991231235959"}]}',
    'datetime_out_of_range',
  ],
  'a datetime in other digits': [
    utf8('{"values":[{"key":"hostile","value":1,"datetime":"２０２６0101000000"}]}'),
    'invalid_datetime',
  ],
  'a flag that is a string': [`{"store":"false","values":[${record}]}`, 'invalid_flag'],
  'a write id of 1,000,000 characters': [
    `{"id":"${'i'.repeat(1_000_000)}","values":[${record}]}`,
    'invalid_write_id',
  ],
  'a write id that is an object': [`{"id":{},"values":[${record}]}`, 'invalid_write_id'],
  'one byte more than the limit': [goodBody.padEnd(1_048_577), 'body_too_large'],
  'as many bytes as the limit': [goodBody.padEnd(1_048_576), 201],
  '20 MB': [Buffer.alloc(20_000_000, ' '), 'body_too_large'],
}

export const bodyCases: readonly HttpCase[] = each(
  'open',
  bodies,
  name => `a body of ${name}`,
  ([body, answer]) => [write(body), answer],
)

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
  ['__proto__']: 'unsupported_encoding',
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
  ['__proto__']: 201,
  '\xff\xfe': 201,
}

export const encodings: readonly HttpCase[] = [
  ...each(
    'open',
    gzips,
    name => `${name} as gzip`,
    ([body, answer]) => [write(body, 'Content-Encoding: gzip'), answer],
  ),
  ...each(
    'open',
    codings,
    coding => `a Content-Encoding of ${JSON.stringify(coding)}`,
    (answer, coding) => [write(goodBody, `Content-Encoding: ${coding}`), answer],
  ),
  ...each(
    'open',
    types,
    type => `a Content-Type of ${JSON.stringify(type.slice(0, 60))}`,
    (answer, type) => [write(goodBody, `Content-Type: ${type}`), answer],
  ),
  ...rows('open', {
    'two Content-Encodings': [
      write(packed, 'Content-Encoding: gzip', 'Content-Encoding: gzip'),
      'unsupported_encoding',
    ],
    'two Content-Types of which the first is JSON': [
      write(goodBody, 'Content-Type: application/json', 'Content-Type: image/png'),
      201,
    ],
    'gzip in capitals with spaces': [write(packed, 'Content-Encoding:   GZIP  '), 201],
    'a Content-Encoding on a request that reads': [
      get('/v2/things/<token>/resources', 'Content-Encoding: br'),
      200,
    ],
    'an Accept-Encoding of nothing that there is': [
      get('/v2/things/<token>/resources', 'Accept-Encoding: identity;q=0, *;q=0'),
      200,
    ],
  }),
]
