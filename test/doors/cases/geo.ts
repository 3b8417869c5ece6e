import { type Case, refused, refusedBody, taken } from '../case.ts'

const record = { key: 'reading', value: 1 }
const accepted: readonly (readonly [what: string, geo: unknown, read: { lat: number; long: number }])[] = [
  ['numbers', { lat: 41.41, long: 2.22 }, { lat: 41.41, long: 2.22 }],
  ['strings', { lat: '41.41', long: '-2' }, { lat: 41.41, long: -2 }],
  ['the north-east corner', { lat: 90, long: 180 }, { lat: 90, long: 180 }],
  ['the south-west corner in strings', { lat: '-90.0', long: '-180' }, { lat: -90, long: -180 }],
  ['other members', { lat: 1, long: 2, alt: 3, accuracy: null }, { lat: 1, long: 2 }],
  ['-0', { lat: '-0', long: -0 }, { lat: 0, long: 0 }],
]

const latitudes: readonly unknown[] = [
  90.0001,
  -90.0001,
  '90.0001',
  '1e1',
  '+41',
  ' 41',
  '41,5',
  '.5',
  '5.',
  '0x10',
  '',
  '41\n',
  null,
  true,
  [41],
]

/** Contract §2, `geo`. */
export const geo: readonly Case[] = [
  ...accepted.map(([what, sent, read]) =>
    taken(`geo of ${what} is stored as numbers`, { ...record, geo: sent }, { geo: read }),
  ),
  taken('null with geo is a pure position', { key: 'reading', value: null, geo: { lat: 1, long: 2 } }),
  taken('geo null counts as absent', { ...record, geo: null }),

  ...latitudes.map(lat =>
    refused(
      `a latitude of ${JSON.stringify(lat)} is refused`,
      { ...record, geo: { lat, long: 2 } },
      'geo.lat',
      'invalid_geo',
    ),
  ),
  ...[180.0001, -180.0001, '180.0001', undefined].map(long =>
    refused(
      `a longitude of ${JSON.stringify(long)} is refused`,
      { ...record, geo: { lat: 1, long } },
      'geo.long',
      'invalid_geo',
    ),
  ),
  refused('geo without lat is refused', { ...record, geo: { long: 2 } }, 'geo.lat', 'invalid_geo'),
  refused('geo as an array is refused', { ...record, geo: [41, 2] }, 'geo', 'invalid_geo'),
  refused('geo as a string is refused', { ...record, geo: '41,2' }, 'geo', 'invalid_geo'),
  refused('geo as false is refused', { ...record, geo: false }, 'geo', 'invalid_geo'),
  refused(
    'geo without a value is refused',
    { key: 'reading', geo: { lat: 1, long: 2 } },
    'value',
    'invalid_value',
  ),
  refused(
    'null with geo null is refused',
    { key: 'reading', value: null, geo: null },
    'value',
    'invalid_value',
  ),
  refusedBody(
    'a latitude that overflows is refused',
    '{"values":[{"key":"reading","value":1,"geo":{"lat":1e999,"long":2}}]}',
    'invalid_geo',
    [{ index: 0, field: 'geo.lat', reason: 'invalid_geo' }],
  ),
  refusedBody(
    '__proto__ as a member of geo is refused',
    '{"values":[{"key":"reading","value":1,"geo":{"lat":1,"long":2,"__proto__":{}}}]}',
    'forbidden_member',
    [{ index: 0, field: 'geo', reason: 'forbidden_member' }],
  ),
]
