import { describeAs, refusedWrite, toldMeta, tryCases, write, writeWith } from '../case-table.ts'

/** Patches one after another, each in a write of its own, and the descriptions after each that changes them. */
const patches: readonly (readonly [
  what: string,
  patches: readonly object[],
  documents: readonly unknown[],
])[] = [
  [
    'a description with all members is the state',
    [{ a: { name: 'Cellar', unit: '°C', kind: 'temperature', total: false, decimals: 0, hidden: true } }],
    [{ a: { name: 'Cellar', unit: '°C', kind: 'temperature', total: false, decimals: 0, hidden: true } }],
  ],
  [
    'descriptions are merged by key and member',
    [{ a: { unit: 'V' }, 'b.c': { total: true } }, { a: { name: 'Battery', unit: 'mV' } }],
    [
      { a: { unit: 'V' }, 'b.c': { total: true } },
      { a: { unit: 'mV', name: 'Battery' }, 'b.c': { total: true } },
    ],
  ],
  [
    'null removes a member',
    [{ a: { unit: 'V', decimals: 1 } }, { a: { unit: null } }],
    [{ a: { unit: 'V', decimals: 1 } }, { a: { decimals: 1 } }],
  ],
  [
    'null removes a description',
    [{ a: { unit: 'V' }, b: { unit: 'A' } }, { a: null }],
    [{ a: { unit: 'V' }, b: { unit: 'A' } }, { b: { unit: 'A' } }],
  ],
  [
    'a description goes with its last member',
    [{ a: { unit: 'V' } }, { a: { unit: null } }],
    [{ a: { unit: 'V' } }, {}],
  ],
  ['an empty patch of a thing without descriptions is nothing', [{}, { a: {} }, { b: null }], []],
  [
    'a patch to what is there changes nothing',
    [{ a: { unit: 'V' } }, { a: { unit: 'V' } }],
    [{ a: { unit: 'V' } }],
  ],
  [
    'a discovery sets what is absent, and is listed',
    [{ a: { name: 'Cellar' } }, { a: { unit: '°C', kind: 'temperature', discovered: ['unit', 'kind'] } }],
    [
      { a: { name: 'Cellar' } },
      { a: { name: 'Cellar', unit: '°C', kind: 'temperature', discovered: ['unit', 'kind'] } },
    ],
  ],
  [
    'a discovery never overwrites, or removes, what a person has set',
    [
      { a: { name: 'Cellar', unit: '°F' } },
      { a: { name: 'Probe 1', unit: null, discovered: ['name', 'unit'] } },
      { a: { name: 'Probe 2', kind: 'temperature', discovered: ['name', 'kind'] } },
    ],
    [
      { a: { name: 'Cellar', unit: '°F' } },
      { a: { name: 'Cellar', unit: '°F', kind: 'temperature', discovered: ['kind'] } },
    ],
  ],
  [
    'a discovery changes and removes what a discovery has set',
    [
      { a: { name: 'Probe', unit: '°C', discovered: ['name', 'unit'] } },
      { a: { name: 'Probe 1', discovered: ['name'] } },
      { a: { unit: null, discovered: ['unit'] } },
      { a: { name: null, discovered: ['name'] } },
    ],
    [
      { a: { name: 'Probe', unit: '°C', discovered: ['name', 'unit'] } },
      { a: { name: 'Probe 1', unit: '°C', discovered: ['name', 'unit'] } },
      { a: { name: 'Probe 1', discovered: ['name'] } },
      {},
    ],
  ],
  [
    'what a person sets is no longer discovered, also if it stays as it is',
    [
      { a: { name: 'Probe', unit: '°C', discovered: ['name', 'unit'] } },
      { a: { unit: '°C' } },
      { a: { name: 'Cellar' } },
      { a: { name: 'Probe 1', unit: '°F', discovered: ['name', 'unit'] } },
    ],
    [
      { a: { name: 'Probe', unit: '°C', discovered: ['name', 'unit'] } },
      { a: { name: 'Probe', unit: '°C', discovered: ['name'] } },
      { a: { name: 'Cellar', unit: '°C' } },
    ],
  ],
  [
    'a discovery does not bring back what it had set and a person has removed',
    [
      { a: { unit: '°C', discovered: ['unit'] } },
      { a: { unit: null } },
      { a: { unit: '°F', kind: 'temperature', discovered: ['unit', 'kind'] } },
      { a: { unit: null, discovered: ['unit'] } },
      { a: { unit: 'K' } },
    ],
    [
      { a: { unit: '°C', discovered: ['unit'] } },
      { a: { discovered: ['unit'] } },
      { a: { kind: 'temperature', discovered: ['unit', 'kind'] } },
      { a: { kind: 'temperature', unit: 'K', discovered: ['kind'] } },
    ],
  ],
  [
    'a discovery sets again what a person had set and removed, and what went with its description or the list',
    [
      { a: { unit: 'K' }, b: { unit: 'V', discovered: ['unit'] }, c: { unit: 'A', discovered: ['unit'] } },
      { a: { unit: null }, b: null, c: { unit: null, discovered: null } },
      {
        a: { unit: '°C', discovered: ['unit'] },
        b: { unit: 'V', discovered: ['unit'] },
        c: { unit: 'A', discovered: ['unit'] },
      },
    ],
    [
      { a: { unit: 'K' }, b: { unit: 'V', discovered: ['unit'] }, c: { unit: 'A', discovered: ['unit'] } },
      {},
      {
        a: { unit: '°C', discovered: ['unit'] },
        b: { unit: 'V', discovered: ['unit'] },
        c: { unit: 'A', discovered: ['unit'] },
      },
    ],
  ],
  [
    'one patch may have members of a person and of a discovery',
    [{ a: { name: 'Cellar', unit: '°C', discovered: ['unit'] } }],
    [{ a: { name: 'Cellar', unit: '°C', discovered: ['unit'] } }],
  ],
  [
    'null as discovered makes all that was discovered count as set by a person',
    [
      { a: { name: 'Probe', unit: '°C', discovered: ['name', 'unit'] } },
      { a: { discovered: null } },
      { a: { name: 'Probe 1', discovered: ['name'] } },
    ],
    [
      { a: { name: 'Probe', unit: '°C', discovered: ['name', 'unit'] } },
      { a: { name: 'Probe', unit: '°C' } },
    ],
  ],
  [
    'discovered is in the order of the members, each once, and never empty',
    [
      { a: { unit: 'V', kind: 'voltage', discovered: ['kind', 'unit', 'kind'] } },
      { b: { unit: 'V', discovered: [] } },
    ],
    [
      { a: { unit: 'V', kind: 'voltage', discovered: ['unit', 'kind'] } },
      { a: { unit: 'V', kind: 'voltage', discovered: ['unit', 'kind'] }, b: { unit: 'V' } },
    ],
  ],
]

const maximum = 65_536
/** Leaves room for one more description, with a unit of `room` characters. */
const full = Object.fromEntries(
  Array.from({ length: 1_310 }, (_, n) => [`k${String(n).padStart(4, '0')}`, { unit: 'x'.repeat(30) }]),
)
const room = maximum - JSON.stringify({ ...full, z: { unit: '' } }).length

tryCases([
  ...patches.map(([what, values, documents]) => ({
    name: `meta: ${what}`,
    steps: values.map(value => write(describeAs(value))),
    states: documents.length === 0 ? {} : { $meta: documents.at(-1) },
    history: { $meta: values },
    told: toldMeta(...documents),
  })),
  {
    name: 'meta applies in write order, whatever the datetimes',
    steps: [
      write(describeAs({ a: { unit: 'V' } }, '20260102030402')),
      write(describeAs({ a: { unit: 'A' } }, '20260102030401')),
    ],
    states: { $meta: { a: { unit: 'A' } } },
    history: { $meta: [{ a: { unit: 'A' } }, { a: { unit: 'V' } }] },
    told: toldMeta({ a: { unit: 'V' } }, { a: { unit: 'A' } }),
  },
  {
    name: 'meta of a refused write changes nothing',
    steps: [
      write(describeAs({ a: { unit: 'V' } })),
      refusedWrite('invalid_meta', describeAs({ a: { unit: 'A' } }), describeAs({ a: { unit: 7 } })),
    ],
    states: { $meta: { a: { unit: 'V' } } },
    history: { $meta: [{ a: { unit: 'V' } }] },
    told: toldMeta({ a: { unit: 'V' } }),
  },
  {
    name: 'meta stays when the records of its key are removed, and goes by itself',
    steps: [
      write({ key: 'a', value: 1 }, describeAs({ a: { unit: 'V' } })),
      { remove: 'a' },
      write(describeAs({ b: { unit: 'A' } })),
    ],
    states: { $meta: { a: { unit: 'V' }, b: { unit: 'A' } } },
    history: { $meta: [{ a: { unit: 'V' } }, { b: { unit: 'A' } }] },
    told: toldMeta({ a: { unit: 'V' } }, { a: { unit: 'V' }, b: { unit: 'A' } }),
  },
  {
    name: 'DELETE $meta removes history and descriptions',
    steps: [write(describeAs({ a: { unit: 'V' } })), { remove: '$meta' }],
    states: {},
    history: {},
    told: [...toldMeta({ a: { unit: 'V' } }), ['$meta', undefined]],
  },
  {
    name: 'DELETE $meta with a range removes history alone',
    steps: [
      write(describeAs({ a: { unit: 'V' } }, '20260102030401')),
      { remove: '$meta', range: 'endDate=20260102030402' },
    ],
    states: { $meta: { a: { unit: 'V' } } },
    history: {},
    told: toldMeta({ a: { unit: 'V' } }),
  },
  {
    name: 'store=false tells the descriptions that would be, broadcast=false changes them and tells nothing',
    steps: [
      writeWith({ store: false }, describeAs({ a: { unit: 'V' } })),
      writeWith({ broadcast: false }, describeAs({ b: { unit: 'A' } })),
    ],
    states: { $meta: { b: { unit: 'A' } } },
    history: { $meta: [{ b: { unit: 'A' } }] },
    told: toldMeta({ a: { unit: 'V' } }),
  },
  {
    name: 'meta of exactly 64 KiB is taken, and of one byte more stays as it was',
    steps: [
      write(describeAs(full)),
      write(describeAs({ z: { unit: 'y'.repeat(room + 1) } })),
      write(describeAs({ z: { unit: 'y'.repeat(room) } })),
    ],
    states: { $meta: { ...full, z: { unit: 'y'.repeat(room) } } },
    history: { $meta: [full, { z: { unit: 'y'.repeat(room + 1) } }, { z: { unit: 'y'.repeat(room) } }] },
    told: toldMeta(full, { ...full, z: { unit: 'y'.repeat(room) } }),
    notApplied: ['meta_too_large'],
  },
])
