import { type Bytes, connect, join, publish, subscribe, token, unsubscribe } from '../bytes.ts'
import { answering, closing, type MqttCase } from '../case.ts'

/** What is no text (MQTT-1.5.3-1, -2). */
const badTexts: Record<string, Bytes> = {
  NUL: [0],
  'NUL as two bytes': [0xc0, 0x80],
  'an overlong slash': [0xc0, 0xaf],
  'an overlong slash of three bytes': [0xe0, 0x80, 0xaf],
  'an overlong slash of four bytes': [0xf0, 0x80, 0x80, 0xaf],
  'a high surrogate': [0xed, 0xa0, 0x80],
  'a low surrogate': [0xed, 0xbf, 0xbf],
  'a pair of surrogates': [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80],
  'a code point above U+10FFFF': [0xf4, 0x90, 0x80, 0x80],
  'five bytes for a code point': [0xf8, 0x88, 0x80, 0x80, 0x80],
  'a character without its end': [0xe2, 0x82],
  'a continuation without a start': [0x80],
  'the byte 0xff': [0xff],
  'Latin-1': [0xe9, 0x20],
}

/** Where a text may be. */
const fields: Record<string, (text: Bytes) => readonly Uint8Array[]> = {
  'a client id': text => [connect({ clientId: join(Buffer.from('device'), text) })],
  'a username': text => [connect({ username: join(Buffer.from(token), text) })],
  'a will topic': text => [connect({ will: { topic: join(Buffer.from(`things/${token}/write`), text) } })],
  'a topic': text => [connect(), publish({ topic: join(Buffer.from(`things/${token}/`), text) })],
  'a filter': text => [connect(), subscribe('a', join(Buffer.from(`things/${token}/`), text))],
  'a filter of an UNSUBSCRIBE': text => [
    connect(),
    unsubscribe('a', join(Buffer.from(`things/${token}/`), text)),
  ],
}
const inConnect = new Set(['a client id', 'a username', 'a will topic'])

const badText = Object.entries(fields).flatMap(([field, sends]) =>
  closing(
    Object.fromEntries(Object.entries(badTexts).map(([what, text]) => [`${what} in ${field}`, sends(text)])),
    inConnect.has(field) ? [] : ['connack 0'],
  ),
)

const strange = (text: string) => Buffer.from(`things/${token}/${text}`)

/** Text that is none, and text that looks like it. */
export const texts: readonly MqttCase[] = [
  ...badText,
  ...answering([
    ['U+FFFD in a client id', [connect({ clientId: 'a\ufffd' })], 'connack 0'],
    ['a byte order mark in a client id', [connect({ clientId: '\ufeffa' })], 'connack 0'],
    ['a character of four bytes in a client id', [connect({ clientId: '\u{10ffff}' })], 'connack 0'],
    ['U+FFFD in a topic', [connect(), publish({ topic: strange('\ufffd') })], 'connack 0', 'puback 7'],
    [
      'control characters in a topic',
      [connect(), publish({ topic: strange('\r\n\x01\x7f') })],
      'connack 0',
      'puback 7',
    ],
    ['a byte order mark in a filter', [connect(), subscribe(strange('\ufeff'))], 'connack 0', 'suback 7: 1'],
    [
      'a byte order mark before a filter',
      [connect(), subscribe(`\ufeffthings/${token}/#`)],
      'connack 0',
      'suback 7: 128',
    ],
    ['a noncharacter in a filter', [connect(), subscribe(strange('\uffff'))], 'connack 0', 'suback 7: 1'],
  ]),
]
