import { nested, received, refused, refusedBody, taken, tryCases, written } from '../case-table.ts'

const point = (long: number, lat: number) => ({ type: 'Point', coordinates: [long, lat] })
const path = (parts: number) => Array.from({ length: parts }, (_, index) => `p${index}`).join('.')

const positions: readonly (readonly [what: string, record: object, read: unknown])[] = [
  ['a GeoJSON Point', { value: point(2.22, 41.41) }, point(2.22, 41.41)],
  ['an array', { value: [2.22, 41.41] }, point(2.22, 41.41)],
  [
    'a Point with a third coordinate',
    { value: { type: 'Point', coordinates: [2, 41, 120.5] } },
    point(2, 41),
  ],
  ['an array with a third coordinate', { value: [2, 41, 0] }, point(2, 41)],
  ['a Point with other members', { value: { ...point(2, 41), bbox: [] } }, point(2, 41)],
  ['null with geo', { value: null, geo: { lat: 41.41, long: 2.22 } }, point(2.22, 41.41)],
  ['null with geo in strings', { value: null, geo: { lat: '41.41', long: '-2' } }, point(-2, 41.41)],
  ['a value and geo', { value: [1, 2], geo: { lat: 41, long: 3 } }, point(1, 2)],
  ['the north-east corner', { value: [180, 90] }, point(180, 90)],
  ['the south-west corner', { value: [-180, -90] }, point(-180, -90)],
]

const noPositions: readonly (readonly [what: string, record: object])[] = [
  ['a longitude beyond 180', { value: [180.0001, 0] }],
  ['a longitude beyond -180', { value: point(-180.0001, 0) }],
  ['a latitude beyond 90', { value: [0, 90.0001] }],
  ['a latitude beyond -90', { value: [0, -90.0001] }],
  ['coordinates in strings', { value: ['2', '41'] }],
  ['one coordinate', { value: [2] }],
  ['four coordinates', { value: [2, 41, 0, 0] }],
  ['a LineString', { value: { type: 'LineString', coordinates: [2, 41] } }],
  ['a Point without coordinates', { value: { type: 'Point' } }],
  ['an object of lat and long', { value: { lat: 41, long: 2 } }],
  ['a string', { value: '2,41' }],
  ['null without geo', { value: null }],
  ['geo without a value', { geo: { lat: 41, long: 2 } }],
]

const settings: readonly (readonly [what: string, key: string, value: unknown])[] = [
  ['an object', '$settings', { name: 'pump', limits: { high: 3, low: null } }],
  ['the empty object', '$settings', {}],
  ['an object 16 levels deep', '$settings', { a: nested(15) }],
  ['a member of 128 bytes', '$settings', { ['ä'.repeat(64)]: 1 }],
  ['a member with a dot', '$settings', { 'a.b': 1, '': 2 }],
  ['a scalar at a path', '$settings.name', 'pump'],
  ['an object at a path', '$settings.limits.high-2', { warn: 1 }],
  ['null at a path', '$settings.name', null],
  ['a path part of 64 characters', `$settings.${'a'.repeat(64)}`, 1],
  ['a path of 16 parts', `$settings.${path(16)}`, 1],
  ['an object 14 levels deep at a path of 2 parts', '$settings.a.b', nested(14)],
]

const badPaths: readonly (readonly [what: string, key: string])[] = [
  ['an empty path', '$settings.'],
  ['an empty path part', '$settings.a..b'],
  ['a path part of 65 characters', `$settings.${'a'.repeat(65)}`],
  ['a path part with an umlaut', '$settings.größe'],
  ['a path part with a space', '$settings.a b'],
  ['a path of 17 parts', `$settings.${path(17)}`],
]

const badSettings: readonly (readonly [what: string, key: string, value: unknown])[] = [
  ['null as the document', '$settings', null],
  ['an array as the document', '$settings', []],
  ['a string as the document', '$settings', '{}'],
  ['no value', '$settings', undefined],
  ['no value at a path', '$settings.name', undefined],
  ['an object 17 levels deep', '$settings', { a: nested(16) }],
  ['an object 15 levels deep at a path of 2 parts', '$settings.a.b', nested(15)],
  ['an object at a path of 16 parts', `$settings.${path(16)}`, {}],
  ['a member of 129 bytes', '$settings', { a: { ['x'.repeat(129)]: 1 } }],
]

const descriptions: readonly (readonly [what: string, value: unknown])[] = [
  ['no description', {}],
  ['an empty description', { temperature: {} }],
  ['a description that is removed', { temperature: null }],
  [
    'every member at its shortest',
    { a: { name: 'x', unit: '%', kind: 'x', total: false, decimals: 0, hidden: false, discovered: [] } },
  ],
  [
    'every member at its longest',
    {
      ['k'.repeat(128)]: { name: 'ä'.repeat(100), unit: 'µ'.repeat(32), kind: 'x'.repeat(64) },
      'rooms.cellar_1-b': { total: true, decimals: 10, hidden: true },
    },
  ],
  [
    'members that are removed',
    {
      a: { name: null, unit: null, kind: null, total: null, decimals: null, hidden: null, discovered: null },
    },
  ],
  [
    'members that a discovery sets and removes',
    { a: { unit: '°C', name: null, discovered: ['unit', 'name'] } },
  ],
]

const badDescriptions: readonly (readonly [what: string, value: unknown])[] = [
  ['no value', undefined],
  ['null', null],
  ['an array', []],
  ['a string', '{}'],
  ['a key with a space', { 'room temperature': {} }],
  ['a key of 129 characters', { ['k'.repeat(129)]: {} }],
  ['an empty key', { '': {} }],
  ['the key of a magic resource', { $geo: { name: 'Position' } }],
  ['a unit in place of a description', { temperature: '°C' }],
  ['an array in place of a description', { temperature: [] }],
  ['an unknown member', { temperature: { colour: 'red' } }],
  ['an unknown member to remove', { temperature: { colour: null } }],
  ['an inherited member', { temperature: { toString: 'x' } }],
  ['an empty name', { temperature: { name: '' } }],
  ['a name of 101 characters', { temperature: { name: 'x'.repeat(101) } }],
  ['a unit of 33 characters', { temperature: { unit: 'x'.repeat(33) } }],
  ['a kind of 65 characters', { temperature: { kind: 'x'.repeat(65) } }],
  ['a number as a unit', { temperature: { unit: 1 } }],
  ['an object as a kind', { temperature: { kind: {} } }],
  ['a string as total', { temperature: { total: 'true' } }],
  ['a number as hidden', { temperature: { hidden: 1 } }],
  ['11 decimals', { temperature: { decimals: 11 } }],
  ['-1 decimals', { temperature: { decimals: -1 } }],
  ['1.5 decimals', { temperature: { decimals: 1.5 } }],
  ['decimals in a string', { temperature: { decimals: '1' } }],
  ['true as discovered', { temperature: { unit: '°C', discovered: true } }],
  ['a member name as discovered', { temperature: { unit: '°C', discovered: 'unit' } }],
  ['an unknown member as discovered', { temperature: { unit: '°C', discovered: ['colour'] } }],
  ['discovered as discovered', { temperature: { discovered: ['discovered'] } }],
  ['a number as the name of a discovered member', { temperature: { unit: '°C', discovered: [0] } }],
  ['a good and a bad description', { depth: { unit: 'm' }, temperature: { unit: 1 } }],
]

tryCases({
  /** Contract §5: what is taken and kept as history under its own key. */
  'magic resources': [
    ...positions.map(([what, record, value]) => ({
      name: `$geo as ${what} is kept as a Point`,
      steps: [written({ key: '$geo', ...record })],
      records: { $geo: [received(value)] },
    })),
    ...noPositions.map(([what, record]) =>
      refused(`$geo as ${what} is refused`, { key: '$geo', ...record }, 'value', 'invalid_position'),
    ),
    refused(
      '$geo with geo out of range is refused',
      { key: '$geo', value: null, geo: { lat: 91, long: 0 } },
      'geo.lat',
      'invalid_geo',
    ),
    refusedBody(
      '$geo with a forbidden member is refused',
      '{"values":[{"key":"$geo","value":{"type":"Point","coordinates":[2,41],"__proto__":1}}]}',
      'forbidden_member',
      [{ index: 0, field: 'value', reason: 'forbidden_member' }],
    ),
    {
      name: '$geo with a datetime joins the track in its place',
      steps: [
        written({ key: '$geo', value: [2, 2], datetime: '20260102030402' }),
        written({ key: '$geo', value: [1, 1], datetime: '20260102030401' }),
      ],
      records: {
        $geo: [
          { value: point(1, 1), datetime: '2026-01-02T03:04:01.000Z' },
          { value: point(2, 2), datetime: '2026-01-02T03:04:02.000Z' },
        ],
      },
    },
    ...settings.map(([what, key, value]) => taken(`settings: ${what} is taken`, { key, value })),
    taken('settings keep their geo as history', {
      key: '$settings.name',
      value: 'pump',
      geo: { lat: 41, long: 2 },
    }),
    ...badPaths.map(([what, key]) =>
      refused(`settings: ${what} is refused`, { key, value: 1 }, 'key', 'invalid_settings_path'),
    ),
    ...['__proto__', 'a.constructor', 'prototype.b'].map(parts =>
      refused(
        `settings: the path ${parts} is refused`,
        { key: `$settings.${parts}`, value: 1 },
        'key',
        'forbidden_member',
      ),
    ),
    ...badSettings.map(([what, key, value]) =>
      refused(`settings: ${what} is refused`, { key, value }, 'value', 'invalid_settings'),
    ),
    refused(
      'settings: a document over 64 KiB is refused',
      { key: '$settings', value: { a: 'x'.repeat(65_536) } },
      'value',
      'value_too_large',
    ),
    ...descriptions.map(([what, value]) => taken(`meta: ${what} is taken`, { key: '$meta', value })),
    taken('meta keeps its geo as history', { key: '$meta', value: {}, geo: { lat: 41, long: 2 } }),
    ...badDescriptions.map(([what, value]) =>
      refused(`meta: ${what} is refused`, { key: '$meta', value }, 'value', 'invalid_meta'),
    ),
    refused(
      'meta: one description is no resource',
      { key: '$meta.temperature', value: { unit: '°C' } },
      'key',
      'unknown_magic_resource',
    ),
    refusedBody(
      'settings: a forbidden member is refused',
      '{"values":[{"key":"$settings","value":{"a":{"__proto__":{"b":1}}}}]}',
      'forbidden_member',
      [{ index: 0, field: 'value', reason: 'forbidden_member' }],
    ),
  ],
})
