import type { Reason } from '../../../../src/errors.ts'
import { goodBody, type HttpCase, type Part, write } from '../case.ts'

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

export const bodyCases: readonly HttpCase[] = Object.entries(bodies).map(([name, [body, answer]]) => ({
  name: `a body of ${name}`,
  sends: write(body),
  answers: [answer],
}))
