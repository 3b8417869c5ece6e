import { type Case, fromNow, refused, taken } from '../case.ts'

const day = 24 * 60 * 60 * 1000
const minute = 60 * 1000
const soon = fromNow(day - minute)

const spellings: readonly (readonly [sent: string, read: string])[] = [
  ['20151028121856', '2015-10-28T12:18:56.000Z'],
  ['20151028T121856', '2015-10-28T12:18:56.000Z'],
  ['20151028121856799', '2015-10-28T12:18:56.799Z'],
  ['2015-10-28T12:18:56Z', '2015-10-28T12:18:56.000Z'],
  ['2015-10-28T12:18:56', '2015-10-28T12:18:56.000Z'],
  ['2015-10-28T12:18', '2015-10-28T12:18:00.000Z'],
  ['2015-10-28T12:18Z', '2015-10-28T12:18:00.000Z'],
  ['2015-10-28T12:18+02:00', '2015-10-28T10:18:00.000Z'],
  ['2015-10-28t12:18:56z', '2015-10-28T12:18:56.000Z'],
  ['2015-10-28 12:18:56Z', '2015-10-28T12:18:56.000Z'],
  ['2015-10-28T12:18:56.7Z', '2015-10-28T12:18:56.700Z'],
  ['2015-10-28T12:18:56.799999999Z', '2015-10-28T12:18:56.799Z'],
  [`2015-10-28T12:18:56.${'9'.repeat(100)}+00:00`, '2015-10-28T12:18:56.999Z'],
  ['2015-10-28T12:18:56+14:00', '2015-10-27T22:18:56.000Z'],
  ['2015-10-28T12:18:56-12:00', '2015-10-29T00:18:56.000Z'],
  ['2015-10-28T12:18:56.5-03:30', '2015-10-28T15:48:56.500Z'],
  ['2015-10-28T12:18:56-00:00', '2015-10-28T12:18:56.000Z'],
  ['20240229235959', '2024-02-29T23:59:59.000Z'],
  ['20000229000000', '2000-02-29T00:00:00.000Z'],
  ['1970-01-01T00:00:00Z', '1970-01-01T00:00:00.000Z'],
  ['1970-01-01T01:00:00+01:00', '1970-01-01T00:00:00.000Z'],
]

const impossible: readonly (readonly [what: string, datetime: unknown])[] = [
  ['February 30', '20250230120000'],
  ['February 29 of a common year', '2025-02-29T12:00:00Z'],
  ['February 29 of 2100', '21000229120000'],
  ['April 31', '20250431120000'],
  ['month 13', '20251301120000'],
  ['month 0', '20250001120000'],
  ['day 0', '20250100120000'],
  ['24:00', '20250101240000'],
  ['24:00 in RFC 3339', '2025-01-01T24:00:00Z'],
  ['minute 60', '20250101126000'],
  ['a leap second', '2016-12-31T23:59:60Z'],
  ['second 60', '20250101120060'],
  ['a zone of 24 hours', '2025-01-01T12:00:00+24:00'],
  ['a zone without a colon', '2025-01-01T12:00:00+0200'],
  ['a zone of hours alone', '2025-01-01T12:00:00+02'],
  ['a fraction without digits', '2025-01-01T12:00:00.Z'],
  ['a fraction after a comma', '2025-01-01T12:00:00,5Z'],
  ['a date alone', '2025-01-01'],
  ['eight digits', '20250101'],
  ['thirteen digits', '2025010112000'],
  ['sixteen digits', '2025010112000000'],
  ['eighteen digits', '202501011200000000'],
  ['compact digits with a zone', '20250101120000Z'],
  ['a space at the end', '20250101120000 '],
  ['a line feed at the end', '20250101120000\n'],
  ['Arabic digits', '٢٠٢٥٠١٠١١٢٠٠٠٠'],
  ['an English date', 'Wed, 01 Jan 2025 12:00:00 GMT'],
  ['the empty string', ''],
  ['a JSON number', 20250101120000],
  ['a number of milliseconds', 1735732800000],
  ['false', false],
  ['an object', { $date: '2025-01-01T12:00:00Z' }],
]

const outOfRange: readonly (readonly [what: string, datetime: string])[] = [
  ['the last second before 1970', '19691231235959'],
  ['the last millisecond before 1970', '1969-12-31T23:59:59.9999Z'],
  ['a zone that reaches behind 1970', '1970-01-01T00:00:00+00:01'],
  ['the year 0', '0000-01-01T00:00:00Z'],
  ['the year 99', '00990101000000'],
  ['an hour more than a day ahead', fromNow(day + 60 * minute)],
  ['the year 9999', '99991231235959'],
]

/** Contract §2, `datetime`. */
export const datetimes: readonly Case[] = [
  ...spellings.map(([datetime, read]) =>
    taken(`${datetime} is ${read}`, { key: 'reading', value: 1, datetime }, { datetime: read }),
  ),
  taken(
    'a day less a minute ahead is taken',
    { key: 'reading', value: 1, datetime: soon },
    { datetime: soon },
  ),
  taken('a record without datetime gets the receipt time', { key: 'reading', value: 1 }),
  taken('datetime null counts as absent', { key: 'reading', value: 1, datetime: null }),

  ...impossible.map(([what, datetime]) =>
    refused(`${what} is no datetime`, { key: 'reading', value: 1, datetime }, 'datetime', 'invalid_datetime'),
  ),
  ...outOfRange.map(([what, datetime]) =>
    refused(
      `${what} is out of range`,
      { key: 'reading', value: 1, datetime },
      'datetime',
      'datetime_out_of_range',
    ),
  ),
]
