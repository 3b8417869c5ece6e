import { type Case, received, refused, taken, written } from '../case.ts'

const invalidKeys: readonly (readonly [what: string, key: unknown])[] = [
  ['a dot alone', '.'],
  ['two dots alone', '..'],
  ['the empty key', ''],
  ['a key of 129 characters', 'k'.repeat(129)],
  ['a key with a space', 'room temperature'],
  ['a key with a slash', 'room/temperature'],
  ['a key with a wildcard', 'room+'],
  ['a key with an umlaut', 'wärme'],
  ['a key with an emoji', '🌡'],
  ['a key with a dollar sign inside', 'a$b'],
  ['a key with a line feed at its end', 'temperature\n'],
  ['a key with a NUL', 'a\u0000'],
  ['a key that is a number', 5],
  ['a key that is null', null],
  ['a key that is an array', ['temperature']],
]

const unknownMagicKeys = ['$', '$state', '$geo.lat', '$GEO', '$settingsx', '$geo ']

/** Contract §2, `key`. */
export const keys: readonly Case[] = [
  taken('a key of one character is taken', { key: 'a', value: 1 }),
  taken('a key of 128 characters is taken', { key: 'k'.repeat(128), value: 1 }),
  taken('a key may hold letters, digits, dots, dashes and underscores', { key: '0.Az-9_', value: 1 }),
  ...['...', '.a', '..a', 'a.', 'a..', '.-.', '._', '-', '_', '....'].map(key =>
    taken(`the key ${key} is taken, and can be read`, { key, value: 1 }),
  ),
  taken('constructor is a key like any other', { key: 'constructor', value: 1 }),
  {
    name: 'keys that begin alike or differ in case are resources of their own',
    steps: [
      written(...['t', 'T', 't.1', 't-1', 't_1', 't.1.x'].map((key, index) => ({ key, value: index })), {
        key: 't',
        value: 'again',
      }),
    ],
    records: {
      t: [received(0), received('again')],
      T: [received(1)],
      't.1': [received(2)],
      't-1': [received(3)],
      t_1: [received(4)],
      't.1.x': [received(5)],
    },
  },
  ...invalidKeys.map(([what, key]) => refused(`${what} is refused`, { key, value: 1 }, 'key', 'invalid_key')),
  refused('a record without a key is refused', { value: 1 }, 'key', 'invalid_key'),
  ...unknownMagicKeys.map(key =>
    refused(
      `${JSON.stringify(key)} is no magic resource`,
      { key, value: [2, 41] },
      'key',
      'unknown_magic_resource',
    ),
  ),
]
