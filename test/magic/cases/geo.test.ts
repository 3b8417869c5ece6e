import {
  at,
  point,
  refusedWrite,
  secondTime,
  toldPositions,
  tryCases,
  write,
  writeWith,
} from '../case-table.ts'

const forms: readonly (readonly [what: string, record: object, state: object])[] = [
  ['a GeoJSON Point', { value: point(2.22, 41.41) }, point(2.22, 41.41)],
  ['an array', { value: [2.22, 41.41] }, point(2.22, 41.41)],
  ['a Point with a third coordinate', { value: { type: 'Point', coordinates: [2, 41, 7] } }, point(2, 41)],
  ['an array with a third coordinate', { value: [2, 41, 7] }, point(2, 41)],
  ['a Point with other members', { value: { ...point(2, 41), bbox: [1] } }, point(2, 41)],
  ['null with geo', { value: null, geo: { lat: 41.41, long: 2.22 } }, point(2.22, 41.41)],
  ['null with geo in strings', { value: null, geo: { lat: '41.41', long: '-2' } }, point(-2, 41.41)],
  ['a value, whatever geo is beside it', { value: [1, 2], geo: { lat: 41, long: 3 } }, point(1, 2)],
  ['the north-east corner', { value: [180, 90] }, point(180, 90)],
  ['the south-west corner', { value: [-180, -90] }, point(-180, -90)],
  ['the origin', { value: [0, 0] }, point(0, 0)],
]

const refused: readonly (readonly [what: string, record: object])[] = [
  ['a longitude out of range', { value: [180.5, 0] }],
  ['a latitude out of range', { value: [0, -90.5] }],
  ['coordinates in strings', { value: ['2', '41'] }],
  ['one coordinate', { value: [2] }],
  ['null without geo', { value: null }],
  ['an object of lat and long', { value: { lat: 1, long: 2 } }],
]

/** What longs, at which seconds, lead to which announcements; all in the track. */
const movements: readonly (readonly [
  what: string,
  writes: readonly object[][],
  told: number[],
  time: number,
])[] = [
  ['moves forward', [[at(1, 1)], [at(2, 2)]], [1, 2], 2],
  ['does not move back', [[at(2, 2)], [at(1, 1)]], [2], 2],
  ['goes on past a late record', [[at(2, 2)], [at(1, 1)], [at(3, 3)]], [2, 3], 3],
  ['takes the later write of two of one time', [[at(1, 1)], [at(2, 1)]], [1, 2], 1],
  ['is announced where it stays in one place', [[at(1, 1)], [at(1, 2)]], [1, 1], 2],
  ['moves through the records of one write', [[at(1, 1), at(2, 2), at(3, 3)]], [1, 2, 3], 3],
  ['takes only the first of a write that goes back in time', [[at(3, 3), at(2, 2), at(1, 1)]], [3], 3],
  ['leaves out the late records of one write', [[at(1, 2), at(9, 1), at(2, 3), at(9, 2)]], [1, 2], 3],
  ['takes the later place of two of one time in a write', [[at(1, 1), at(2, 1)]], [1, 2], 1],
  ['is not moved by late records of many writes', [[at(9, 9)], [at(1, 1)], [at(2, 2)], [at(3, 3)]], [9], 9],
]

function track(writes: readonly object[][]): unknown[] {
  const records = writes.flat() as { value: [number, number]; datetime: string }[]
  const byTime = records.toSorted((a, b) => (a.datetime < b.datetime ? -1 : a.datetime > b.datetime ? 1 : 0))
  return byTime.map(({ value: [long] }) => point(long))
}

tryCases([
  ...forms.map(([what, record, state]) => ({
    name: `$geo as ${what} is the position as a Point`,
    steps: [write({ key: '$geo', ...record })],
    states: { $geo: state },
    history: { $geo: [state] },
    told: [['$geo', state]] as const,
  })),
  ...refused.map(([what, record]) => ({
    name: `$geo as ${what} moves nothing`,
    steps: [write(at(1, 1)), refusedWrite('invalid_position', { key: '$geo', ...record })],
    states: { $geo: point(1) },
    positionTime: secondTime(1),
    history: { $geo: [point(1)] },
    told: toldPositions(1),
  })),
  ...movements.map(([what, writes, told, time]) => ({
    name: `the position ${what}`,
    steps: writes.map(values => write(...values)),
    states: { $geo: point(told.at(-1) ?? 0) },
    positionTime: secondTime(time),
    history: { $geo: track(writes) },
    told: toldPositions(...told),
  })),
  {
    name: 'the position is not announced again for a resend',
    steps: [write(at(1, 1)), write(at(1, 1))],
    states: { $geo: point(1) },
    positionTime: secondTime(1),
    history: { $geo: [point(1)] },
    told: toldPositions(1),
  },
  {
    name: 'a position without a datetime is newer than one of the past',
    steps: [write(at(1, 1)), write(at(2)), write(at(3, 3))],
    states: { $geo: point(2) },
    history: { $geo: [point(1), point(3), point(2)] },
    told: toldPositions(1, 2),
  },
  {
    name: 'a position without a datetime is late behind one of the near future',
    steps: [
      write({ key: '$geo', value: [1, 0], datetime: new Date(Date.now() + 3_600_000).toISOString() }),
      write(at(2)),
    ],
    states: { $geo: point(1) },
    history: { $geo: [point(2), point(1)] },
    told: toldPositions(1),
  },
  {
    name: 'positions are compared by time, however their datetimes are spelled',
    steps: [
      write({ key: '$geo', value: [2, 0], datetime: '2026-01-02T05:04:02+02:00' }),
      write({ key: '$geo', value: [1, 0], datetime: '20260102030401' }),
      write({ key: '$geo', value: [3, 0], datetime: '20260102030402001' }),
    ],
    states: { $geo: point(3) },
    positionTime: '2026-01-02T03:04:02.001Z',
    history: { $geo: [point(1), point(2), point(3)] },
    told: toldPositions(2, 3),
  },
  {
    name: 'a write with one bad position moves nothing',
    steps: [refusedWrite('invalid_position', at(1, 1), { key: '$geo', value: 'x' })],
    states: {},
    history: {},
    told: [],
  },
  {
    name: 'a partial write moves the position by what is good of it',
    steps: [writeWith({ partial: true }, at(1, 1), { key: '$geo', value: 'x' }, at(2, 2))],
    states: { $geo: point(2) },
    positionTime: secondTime(2),
    history: { $geo: [point(1), point(2)] },
    told: toldPositions(1, 2),
  },
  {
    name: 'a geo of an ordinary record is no position',
    steps: [write({ key: 'depth', value: 1, geo: { lat: 1, long: 2 } })],
    states: {},
    history: { depth: [1] },
    told: [],
  },
])
