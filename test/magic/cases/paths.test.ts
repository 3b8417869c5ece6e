import { patch, refusedWrite, set, toldSettings, tryCases, write } from '../case-table.ts'

const deep = Array.from({ length: 16 }, (_, index) => `p${index}`)
const deepDocument = deep.reduceRight<unknown>((value, name) => ({ [name]: value }), 1) as object

type Written = readonly [path: string, value: unknown]

/** What is set where in which document, and the documents that come of it. */
const sets: readonly (readonly [
  what: string,
  before: object | undefined,
  written: readonly Written[],
  documents: readonly unknown[],
])[] = [
  ['a scalar makes the document', undefined, [['name', 'pump']], [{ name: 'pump' }]],
  ['a deep one makes the objects on the way', undefined, [['a.b.c', 1]], [{ a: { b: { c: 1 } } }]],
  ['what is beside it stays', { a: { b: 1 }, c: 2 }, [['a.d', 3]], [{ a: { b: 1, d: 3 }, c: 2 }]],
  ['a scalar on the way becomes an object', { a: 1 }, [['a.b', 2]], [{ a: { b: 2 } }]],
  ['an array on the way becomes an object', { a: [1, 2] }, [['a.0', 3]], [{ a: { '0': 3 } }]],
  ['an object replaces, it is not merged', { a: { b: 1 } }, [['a', { c: 2 }]], [{ a: { c: 2 } }]],
  ['null inside an object is a value', undefined, [['a', { b: null }]], [{ a: { b: null } }]],
  [
    'a null on the way becomes an object',
    undefined,
    [
      ['a', { b: null }],
      ['a.b.c', 1],
    ],
    [{ a: { b: null } }, { a: { b: { c: 1 } } }],
  ],
  ['null removes a scalar', { a: 1, b: 2 }, [['a', null]], [{ b: 2 }]],
  ['null removes an object', { a: { b: 1 }, c: 2 }, [['a', null]], [{ c: 2 }]],
  ['null leaves the object that it empties', { a: { b: 1 } }, [['a.b', null]], [{ a: {} }]],
  ['null of what is not there makes no objects', { a: 1 }, [['b.c', null]], []],
  ['null through a scalar changes nothing', { a: 1 }, [['a.b', null]], []],
  ['null through an array changes nothing', { a: [1] }, [['a.0', null]], []],
  ['the same value again changes nothing', { a: [1, { b: 2 }] }, [['a', [1, { b: 2 }]]], []],
  [
    'false, 0 and the empty string are values',
    { a: 1 },
    [
      ['a', false],
      ['a', 0],
      ['a', ''],
    ],
    [{ a: false }, { a: 0 }, { a: '' }],
  ],
  ['parts are letters, digits, _ and -', undefined, [['Az_0-9', 1]], [{ 'Az_0-9': 1 }]],
  ['there may be 16 parts', undefined, [[deep.join('.'), 1]], [deepDocument]],
  [
    'names that objects inherit are names like others',
    undefined,
    [
      ['toString', 1],
      ['valueOf.a', 2],
    ],
    [{ toString: 1 }, { toString: 1, valueOf: { a: 2 } }],
  ],
]

tryCases([
  ...sets.map(([what, before, written, documents]) => ({
    name: `a settings path: ${what}`,
    steps: [
      ...(before ? [write(patch(before))] : []),
      ...written.map(([path, value]) => write(set(path, value))),
    ],
    states: { $settings: documents.at(-1) ?? before },
    history: { ...(before && { $settings: [before] }), ...historyOf(written) },
    told: toldSettings(...(before ? [before] : []), ...documents),
  })),
  {
    name: 'a settings path with null and no document makes none',
    steps: [write(set('a.b', null))],
    states: {},
    history: { '$settings.a.b': [null] },
    told: [],
  },
  {
    name: 'a member with a dot is reached through the document alone',
    steps: [write(patch({ 'a.b': 1 })), write(set('a.b', 2)), write(patch({ 'a.b': null }))],
    states: { $settings: { a: { b: 2 } }, '$settings.a.b': 2 },
    history: { $settings: [{ 'a.b': 1 }, { 'a.b': null }], '$settings.a.b': [2] },
    told: toldSettings({ 'a.b': 1 }, { 'a.b': 1, a: { b: 2 } }, { a: { b: 2 } }),
  },
  {
    name: 'settings paths of one write apply in its order, the whole document announced for each',
    steps: [write(set('a', 1), set('b', 2), set('a', null), patch({ c: 3 }), set('c', 3))],
    states: { $settings: { b: 2, c: 3 } },
    history: { $settings: [{ c: 3 }], '$settings.a': [1, null], '$settings.b': [2], '$settings.c': [3] },
    told: toldSettings({ a: 1 }, { a: 1, b: 2 }, { b: 2 }, { b: 2, c: 3 }),
  },
  {
    name: 'what is read at a path is the value there, or null',
    steps: [write(patch({ a: { b: [1, null], c: { d: 'x' } } }))],
    states: {
      $settings: { a: { b: [1, null], c: { d: 'x' } } },
      '$settings.a': { b: [1, null], c: { d: 'x' } },
      '$settings.a.b': [1, null],
      '$settings.a.c.d': 'x',
      '$settings.a.b.0': null,
      '$settings.a.x': null,
      '$settings.toString': null,
      '$settings.a.c.d.length': null,
    },
    history: { $settings: [{ a: { b: [1, null], c: { d: 'x' } } }] },
    told: toldSettings({ a: { b: [1, null], c: { d: 'x' } } }),
  },
  ...['a..b', 'ö', '', 'a.__proto__.b'].map((path, index) => ({
    name: `the settings path "${path}" sets nothing`,
    steps: [
      write(patch({ a: 1 })),
      refusedWrite(index === 3 ? 'forbidden_member' : 'invalid_settings_path', set(path, 1)),
    ],
    states: { $settings: { a: 1 } },
    history: { $settings: [{ a: 1 }] },
    told: toldSettings({ a: 1 }),
  })),
])

function historyOf(written: readonly Written[]): Record<string, unknown[]> {
  const keys = [...new Set(written.map(([path]) => path))]
  return Object.fromEntries(
    keys.map(key => [`$settings.${key}`, written.filter(([path]) => path === key).map(([, value]) => value)]),
  )
}
