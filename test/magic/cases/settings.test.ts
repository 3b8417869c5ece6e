import { nested } from '../../doors/case-table.ts'
import { patch, refusedWrite, toldSettings, tryCases, write, writeWith } from '../case-table.ts'

/** Patches one after another, each in a write of its own, and the document after each that changes it. */
const merges: readonly (readonly [
  what: string,
  patches: readonly object[],
  documents: readonly unknown[],
])[] = [
  ['an object is the document', [{ a: 1, b: 'x' }], [{ a: 1, b: 'x' }]],
  ['the empty object is a document', [{}], [{}]],
  [
    'members are added and replaced',
    [
      { a: 1, b: 2 },
      { b: 3, c: 4 },
    ],
    [
      { a: 1, b: 2 },
      { a: 1, b: 3, c: 4 },
    ],
  ],
  [
    'objects are merged at every level',
    [{ a: { b: { c: 1 } } }, { a: { b: { d: 2 } } }],
    [{ a: { b: { c: 1 } } }, { a: { b: { c: 1, d: 2 } } }],
  ],
  ['null removes a member', [{ a: 1, b: 2 }, { a: null }], [{ a: 1, b: 2 }, { b: 2 }]],
  ['null removes a whole object', [{ a: { b: 1 } }, { a: null }], [{ a: { b: 1 } }, {}]],
  [
    'null removes inside an object, and leaves it',
    [{ a: { b: 1 } }, { a: { b: null } }],
    [{ a: { b: 1 } }, { a: {} }],
  ],
  ['null of a first patch is nothing', [{ a: null, b: { c: null, d: 1 } }], [{ b: { d: 1 } }]],
  ['an array replaces an array', [{ a: [1, 2, 3] }, { a: [4] }], [{ a: [1, 2, 3] }, { a: [4] }]],
  ['null stays inside an array', [{ a: [null, { b: null }] }], [{ a: [null, { b: null }] }]],
  ['an object replaces a scalar', [{ a: 1 }, { a: { b: 2 } }], [{ a: 1 }, { a: { b: 2 } }]],
  ['an object replaces an array', [{ a: [1] }, { a: { b: 2 } }], [{ a: [1] }, { a: { b: 2 } }]],
  ['a scalar replaces an object', [{ a: { b: 2 } }, { a: false }], [{ a: { b: 2 } }, { a: false }]],
  [
    'false, 0 and the empty string are values',
    [
      { a: 1, b: 1, c: 1 },
      { a: false, b: 0, c: '' },
    ],
    [
      { a: 1, b: 1, c: 1 },
      { a: false, b: 0, c: '' },
    ],
  ],
  ['the string null is a value', [{ a: 'null' }], [{ a: 'null' }]],
  ['an empty patch changes nothing', [{ a: 1 }, {}], [{ a: 1 }]],
  ['a patch to what is there changes nothing', [{ a: { b: [1] } }, { a: { b: [1] } }], [{ a: { b: [1] } }]],
  ['the removal of what is not there changes nothing', [{ a: 1 }, { b: null }], [{ a: 1 }]],
  [
    'members may be any string',
    [{ 'a.b': 1, '': 2, 'ö "\\\n': 3, '7': 4 }],
    [{ '7': 4, 'a.b': 1, '': 2, 'ö "\\\n': 3 }],
  ],
  ['a document may be 16 levels deep', [{ a: nested(15) }], [{ a: nested(15) }]],
]

const refused: readonly (readonly [what: string, value: unknown])[] = [
  ['null', null],
  ['an array', []],
  ['a string', '{}'],
  ['an object 17 levels deep', { a: nested(16) }],
]

tryCases([
  ...merges.map(([what, patches, documents]) => ({
    name: `settings: ${what}`,
    steps: patches.map(value => write(patch(value))),
    states: { $settings: documents.at(-1) },
    history: { $settings: patches },
    told: toldSettings(...documents),
  })),
  ...refused.map(([what, value]) => ({
    name: `settings: ${what} changes nothing`,
    steps: [write(patch({ a: 1 })), refusedWrite('invalid_settings', { key: '$settings', value })],
    states: { $settings: { a: 1 } },
    history: { $settings: [{ a: 1 }] },
    told: toldSettings({ a: 1 }),
  })),
  {
    name: 'settings apply in write order, whatever their datetimes',
    steps: [write(patch({ a: 2 }, '20260102030402')), write(patch({ a: 1 }, '20260102030401'))],
    states: { $settings: { a: 1 } },
    history: { $settings: [{ a: 1 }, { a: 2 }] },
    told: toldSettings({ a: 2 }, { a: 1 }),
  },
  {
    name: 'settings are announced once for each change in one write',
    steps: [write(patch({ a: 1 }), patch({ a: 1 }), patch({ b: 2 }), patch({ a: null }))],
    states: { $settings: { b: 2 } },
    history: { $settings: [{ a: 1 }, { a: 1 }, { b: 2 }, { a: null }] },
    told: toldSettings({ a: 1 }, { a: 1, b: 2 }, { b: 2 }),
  },
  {
    name: 'settings of a resend are not applied again',
    steps: [
      write(patch({ a: 1 }, '20260102030401')),
      write(patch({ a: 2 }, '20260102030402')),
      write(patch({ a: 1 }, '20260102030401')),
    ],
    states: { $settings: { a: 2 } },
    history: { $settings: [{ a: 1 }, { a: 2 }] },
    told: toldSettings({ a: 1 }, { a: 2 }),
  },
  {
    name: 'settings of a write with one bad record change nothing',
    steps: [refusedWrite('invalid_settings', patch({ a: 1 }), { key: '$settings', value: 1 })],
    states: {},
    history: {},
    told: [],
  },
  {
    name: 'settings of a partial write change by what is good of it',
    steps: [writeWith({ partial: true }, { key: '$settings', value: 1 }, patch({ a: 1 }))],
    states: { $settings: { a: 1 } },
    history: { $settings: [{ a: 1 }] },
    told: toldSettings({ a: 1 }),
  },
  {
    name: 'settings with a member of 129 bytes change nothing',
    steps: [refusedWrite('invalid_settings', patch({ ['x'.repeat(129)]: 1 }))],
    states: {},
    history: {},
    told: [],
  },
])
