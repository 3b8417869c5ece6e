import { gzipSync } from 'node:zlib'
import { type Answered, answered, get, goodBody, type HttpCase, type Part, rows, write } from '../case.ts'

const record = '{"key":"hostile","value":1}'
const utf8 = (text: string) => Buffer.from(text)
const records = (...all: readonly string[]) => `{"values":[${all.join()}]}`
/** A write of one record, its parts as JSON. */
const keyed = (key: string, value = '1') => records(`{"key":${key},"value":${value}}`)
const valued = (value: string) => keyed('"hostile"', value)
/** A write of one record with another member. */
const added = (member: string) => valued(`1,${member}`)
/** JSON in so many brackets or braces. */
const inBrackets = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
const inBraces = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`

/** Bodies of a write, and what comes back. */
const bodies: Answered<Part> = {
  invalid_json: {
    'nothing but a space': ' ',
    'a single NUL': '\0',
    'a million NULs': '\0'.repeat(1_000_000),
    'JSON with a NUL behind it': `${goodBody}\0`,
    'JSON behind two byte order marks': utf8(`\ufeff\ufeff${goodBody}`),
    'UTF-16 without one': Buffer.from(goodBody, 'utf16le'),
    'UTF-32': Buffer.from([...goodBody].map(byte => `${byte}\0\0\0`).join('')),
    'JSON that breaks off': goodBody.slice(0, -1),
    'JSON twice': goodBody + goodBody,
    'JSON with a comma at its end': '{"values":[],}',
    'JSON with comments': `/* */${goodBody}`,
    'JSON with single quotes': goodBody.replaceAll('"', "'"),
    'JSON in the form of a callback': `callback(${goodBody})`,
    'JSON with a guard in front': `)]}',\n${goodBody}`,
    'a control character in a string': valued('"\x01"'),
    NaN: valued('NaN'),
    Infinity: valued('-Infinity'),
    'a hexadecimal number': valued('0x10'),
    'a number with a zero in front': valued('01'),
    'a bad escape': valued('"\\x41"'),
    'an escape that breaks off': valued('"\\ud8"'),
    XML: '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
    'a form': 'values=1&key=2',
    'a multipart form': '--a\r\nContent-Disposition: form-data; name="b"\r\n\r\nc\r\n--a--\r\n',
    'arrays 100,000 deep': '['.repeat(100_000),
  },
  201: {
    'JSON behind a byte order mark': utf8(`\ufeff${goodBody}`),
    '10,000 records': records(...Array<string>(10_000).fill(record)),
    'a value 32 deep': valued(inBrackets(32)),
    'a field to be ignored 100,000 deep': `{"other":${inBrackets(100_000)},"values":[${record}]}`,
    'a member twice': '{"values":[{"key":"hostile","key":"other","value":1,"value":2}]}',
    'values twice': `{"values":[],"values":[${record}]}`,
    'toString as a member of a record': added('"toString":1,"valueOf":null'),
    'a value with toJSON': valued('{"toJSON":1,"then":1,"length":-1}'),
    'a number of 100,000 digits behind the point': valued(`0.${'1'.repeat(100_000)}`),
    'a number with an endless exponent': valued(`1e-${'9'.repeat(100_000)}`),
    'a lone surrogate': valued('"\\ud800"'),
    'a thousand lone surrogates': valued(`"${'\\udfff'.repeat(1_000)}"`),
    'a string of a NUL': valued('"\\u0000"'),
    'a string of text that turns round': utf8(valued('"\u202e\u2066\u200f"')),
    'a string of 64 KiB with its quotes': valued(`"${'s'.repeat(65_534)}"`),
    'a datetime of 100,000 digits': added(`"datetime":"2026-01-01T00:00:00.${'1'.repeat(100_000)}Z"`),
    'as many bytes as the limit': goodBody.padEnd(1_048_576),
  },
  invalid_utf8: {
    'UTF-16 with a byte order mark': Buffer.from(`\ufeff${goodBody}`, 'utf16le'),
    'a byte above 127 in a string': valued('"\xff"'),
    'an overlong NUL': valued('"\xc0\x80"'),
    'an overlong slash': valued('"\xe0\x80\xaf"'),
    'a surrogate in UTF-8': valued('"\xed\xa0\x80"'),
    'a code point beyond Unicode': valued('"\xf4\x90\x80\x80"'),
    'a character that breaks off': valued('"\xe2\x82"'),
  },
  invalid_body: {
    null: 'null',
    true: 'true',
    'a number': '1',
    'a string': '"values"',
    'an array': `[${goodBody}]`,
    'arrays 100,000 deep, and closed': inBrackets(100_000),
  },
  invalid_values: {
    'an empty object': '{}',
    'values that are no array': '{"values":{"0":1,"length":1}}',
    'values without a record': '{"values":[]}',
    'objects 100,000 deep': inBraces(100_000),
  },
  invalid_record: {
    'records that are none': '{"values":[null,1,"a",[],true]}',
    '10,000 records that are none': `{"values":[${'0,'.repeat(9_999)}0]}`,
  },
  too_many_records: {
    '10,001 records': records(...Array<string>(10_001).fill(record)),
    '100,000 records that are none': `{"values":[${'0,'.repeat(99_999)}0]}`,
  },
  value_too_deep: {
    'a value 100,000 deep': valued(inBrackets(100_000)),
    'a value of objects 100,000 deep': valued(inBraces(100_000)),
    'a value 33 deep': valued(inBrackets(33)),
  },
  forbidden_member: {
    'a value with __proto__': valued('{"__proto__":{"polluted":true}}'),
    'a value with an escaped __proto__': valued('{"\\u005f_proto__":{"polluted":true}}'),
    'a value with constructor': valued('{"constructor":{"prototype":{}}}'),
    'a record with __proto__': '{"values":[{"__proto__":{"key":"hostile","value":1}}]}',
    'a body with __proto__': `{"__proto__":{"values":[${record}]}}`,
    'settings of __proto__': keyed('"$settings.__proto__.polluted"', 'true'),
    'settings with prototype': keyed('"$settings"', '{"prototype":1}'),
  },
  number_out_of_range: {
    'a number that overflows': valued('1e999'),
    'a number that overflows below': valued('-1e999'),
    'a number of 1,000,000 digits': valued('9'.repeat(1_000_000)),
  },
  value_too_large: {
    'a string of 1 MiB': valued(`"${'s'.repeat(1_000_000)}"`),
    'a string of 64 KiB without its quotes': valued(`"${'s'.repeat(65_535)}"`),
    'a string of escapes that are 64 KiB as JSON': valued(`"${'\\u0001'.repeat(20_000)}"`),
    'an object of 100,000 members': valued(
      `{${Array.from({ length: 60_000 }, (_, place) => `"m${place}":0`).join()}}`,
    ),
  },
  invalid_key: {
    'a key of 1,000,000 characters': keyed(`"${'k'.repeat(1_000_000)}"`),
    'a key that is a path': keyed('"../../etc/passwd"'),
    'a key that is a wildcard': keyed('"#"'),
    'a key with a NUL': keyed('"a\\u0000b"'),
    'a key that only looks like one': utf8(keyed('"tеmperature"')),
    'a key that is an array': keyed('["hostile"]'),
  },
  unknown_magic_resource: {
    'an unknown magic key': keyed('"$where"', '"1"'),
    'a key of a dollar': keyed('"$"'),
  },
  invalid_settings_path: {
    'settings with a path of 1,000 parts': keyed(`"$settings${'.a'.repeat(1_000)}"`),
    'settings with empty path parts': keyed('"$settings...a"'),
  },
  invalid_position: {
    'a position off the globe': keyed('"$geo"', '[200,100]'),
    'a position of strings': keyed('"$geo"', '["1","2"]'),
  },
  invalid_geo: {
    'geo of a string without end': added(`"geo":{"lat":"${'1'.repeat(100_000)}!","long":"1"}`),
    'geo of an exponent': added('"geo":{"lat":"1e1","long":1}'),
  },
  invalid_datetime: {
    'a datetime that is a number': added('"datetime":20260101000000'),
    'a datetime in other digits': utf8(added('"datetime":"２０２６0101000000"')),
  },
  datetime_out_of_range: { 'a datetime of the year 9999': added('"datetime":"99991231235959"') },
  invalid_flag: { 'a flag that is a string': `{"store":"false","values":[${record}]}` },
  invalid_write_id: {
    'a write id of 1,000,000 characters': `{"id":"${'i'.repeat(1_000_000)}","values":[${record}]}`,
    'a write id that is an object': `{"id":{},"values":[${record}]}`,
  },
  body_too_large: {
    'one byte more than the limit': goodBody.padEnd(1_048_577),
    '20 MB': Buffer.alloc(20_000_000, ' '),
  },
}

export const bodyCases: readonly HttpCase[] = answered('a body of *', bodies, body => write(body))

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
const gzips: Answered<Part> = {
  201: {
    'a good gzip': packed,
    'a gzip in two members': Buffer.concat([gzipSync(goodBody.slice(0, 9)), gzipSync(goodBody.slice(9))]),
    'a gzip of the limit': gzipSync(goodBody.padEnd(megabyte)),
  },
  invalid_json: {
    'a gzip of nothing': gzipSync(''),
    'a gzip of 10,000 empty members': Buffer.concat(Array(10_000).fill(gzipSync(''))),
  },
  invalid_utf8: {
    'a gzip in a gzip': gzipSync(packed),
    'a bomb in a bomb': gzipSync(zeros, { level: 9 }),
  },
  body_too_large: {
    'a bomb of 64 MiB': zeros,
    'a bomb of 1 GB in sixteen members': Buffer.concat(Array(15).fill(zeros)),
    'a bomb behind a good member': Buffer.concat([packed, zeros]),
    'a gzip of one byte more than the limit': gzipSync(Buffer.alloc(megabyte + 1, ' ')),
    'a gzip larger than the limit': Buffer.alloc(2 * megabyte, packed),
  },
  invalid_content_encoding: {
    'a gzip that breaks off': packed.subarray(0, -9),
    'a gzip without its checksum': packed.subarray(0, -8),
    'a gzip with a head alone': packed.subarray(0, 10),
    'a gzip of one byte': packed.subarray(0, 1),
    'a gzip with a wrong checksum': spoiled(-8, 0xde, 0xad),
    'a gzip with a wrong length': spoiled(-4, 0xff, 0xff, 0xff, 0xff),
    'a gzip with another method': spoiled(2, 9),
    'a gzip with reserved flags': spoiled(3, 0xe0),
    'a gzip with a name that does not end': spoiled(3, 8),
    'a gzip with a block of the reserved kind': spoiled(10, 0xff),
    'a gzip with a member that is none behind it': Buffer.concat([packed, Buffer.from([0x1f, 0x8b, 9])]),
    'a gzip with garbage behind it': Buffer.concat([packed, Buffer.from('garbage')]),
    'zlib without gzip': Buffer.from([0x78, 0x9c, 0x03, 0x00, 0, 0, 0, 1]),
    'plain JSON': goodBody,
    'an empty body': '',
  },
}

/** What Content-Encoding says, of a body that is plain JSON. */
const codings: Answered<string> = {
  unsupported_encoding: [
    ...['gzip, gzip', 'gzip, identity', 'identity, gzip', 'gzip;q=1', '"gzip"'],
    ...['br', 'deflate', 'zstd', 'compress', 'chunked', '*', '__proto__'],
  ],
  201: ['identity', 'IDENTITY', ''],
}

/** What Content-Type says, of a body that is plain JSON. */
const types: Answered<string> = {
  unsupported_media_type: [
    ...['application/msgpack', 'application/cbor; charset=utf-8', 'APPLICATION/X-PROTOBUF'],
    ...['image/png', 'multipart/form-data; boundary=a'],
  ],
  201: [
    ...['application/json; charset=utf-16', 'application/x-www-form-urlencoded', 'text/xml'],
    ...['application/json, application/msgpack', '/', ';;;;', '__proto__', '\xff\xfe'],
    ...[`a/${'b'.repeat(10_000)}`, `application/${'x-'.repeat(5_000)}msgpack`, `${'a;'.repeat(5_000)}+gzip`],
  ],
}

const resources = '/v2/things/<token>/resources'

export const encodings: readonly HttpCase[] = [
  ...answered('* as gzip', gzips, body => write(body, 'Content-Encoding: gzip')),
  ...answered('a Content-Encoding of "*"', codings, coding => write(goodBody, `Content-Encoding: ${coding}`)),
  ...answered('a Content-Type of "*"', types, type => write(goodBody, `Content-Type: ${type}`)),
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
    'a Content-Encoding on a request that reads': [get(resources, 'Content-Encoding: br'), 200],
    'an Accept-Encoding of nothing that there is': [
      get(resources, 'Accept-Encoding: identity;q=0, *;q=0'),
      200,
    ],
  }),
]
