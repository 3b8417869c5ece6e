import { patch, set, toldSettings, tryCases, write } from '../case-table.ts'

const maximum = 65_536
const half = 'x'.repeat(40_000)
/** What fills a document of `{"a":half}` to the last byte, or over it. */
const rest = (over: number) => 'y'.repeat(maximum - JSON.stringify({ a: half, b: '' }).length + over)

/** Contract §5: a document of at most 64 KiB, after merging. */
tryCases([
  {
    name: 'a settings document of exactly 64 KiB is taken',
    steps: [write(patch({ a: half })), write(patch({ b: rest(0) }))],
    states: { $settings: { a: half, b: rest(0) } },
    history: { $settings: [{ a: half }, { b: rest(0) }] },
    told: toldSettings({ a: half }, { a: half, b: rest(0) }),
  },
  {
    name: 'a settings document of one byte more stays as it was',
    steps: [write(patch({ a: half })), write(patch({ b: rest(1) }))],
    states: { $settings: { a: half } },
    history: { $settings: [{ a: half }, { b: rest(1) }] },
    told: toldSettings({ a: half }),
    notApplied: ['settings_too_large'],
  },
  {
    name: 'a settings path that makes the document too large leaves it as it was',
    steps: [write(patch({ a: half })), write(set('b', rest(1))), write(set('c', 1))],
    states: { $settings: { a: half, c: 1 } },
    history: { $settings: [{ a: half }], '$settings.b': [rest(1)], '$settings.c': [1] },
    told: toldSettings({ a: half }, { a: half, c: 1 }),
    notApplied: ['settings_too_large'],
  },
  {
    name: 'settings: what is removed makes room in the same write',
    steps: [write(patch({ a: half })), write(set('a', null), set('b', half))],
    states: { $settings: { b: half } },
    history: { $settings: [{ a: half }], '$settings.a': [null], '$settings.b': [half] },
    told: toldSettings({ a: half }, {}, { b: half }),
  },
  {
    name: 'settings: of one write, what fits is applied, and what does not is noted',
    steps: [write(set('a', half), set('b', half), set('c', 1))],
    states: { $settings: { a: half, c: 1 } },
    history: { '$settings.a': [half], '$settings.b': [half], '$settings.c': [1] },
    told: toldSettings({ a: half }, { a: half, c: 1 }),
    notApplied: ['settings_too_large'],
  },
  {
    name: 'settings are measured in bytes, not characters',
    steps: [write(patch({ a: 'ä'.repeat(20_000) })), write(patch({ b: 'ä'.repeat(13_000) }))],
    states: { $settings: { a: 'ä'.repeat(20_000) } },
    history: { $settings: [{ a: 'ä'.repeat(20_000) }, { b: 'ä'.repeat(13_000) }] },
    told: toldSettings({ a: 'ä'.repeat(20_000) }),
    notApplied: ['settings_too_large'],
  },
])
