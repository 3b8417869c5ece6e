import { mkdtemp, rm } from 'node:fs/promises'
import { PerformanceObserver } from 'node:perf_hooks'
const trees = ['/work/wt/memory', '/work/wt/memory-old']
const keys = Array.from({ length: 50 }, (_, i) => `key${i}`)
const start = Date.now() - 3_600_000 * 24
async function side(tree: string) {
  const { createLevelStore } = await import(`${tree}/src/store/level/index.ts`)
  const { openStore } = await import(`${tree}/src/store/open-store.ts`)
  const location = await mkdtemp('/tmp/paired-')
  const store = await openStore(createLevelStore({ location, durability: 'written' }))
  let n = 0, r = 0, back = 0
  const append = (thing: string, ks: string[]) => store.records.append({ thingId: thing, store: true, broadcast: true, receivedAt: Date.now(), answer: {}, records: ks.map((key, place) => ({ key, datetime: start + n++, value: '21.5', place, explicit: true })) })
  for (let i = 0; i < 20_000; i += 100) await Promise.all(Array.from({ length: 100 }, (_, j) => append(`thing${(i + j) % 20}`, [keys[0]!])))
  for (let t = 0; t < 20; t++) await append(`thing${t}`, keys)
  for (let d = 0; d < 2000; d += 100) await store.documents.transact(Array.from({ length: 100 }, (_, j) => `doc/${d + j}`), () => ({ put: Object.fromEntries(Array.from({ length: 100 }, (_, j) => [`doc/${d + j}`, { a: 1, b: 'text' }])), result: undefined }))
  const read = (limit: number, extra = {}) => store.records.read(`thing${r++ % 20}`, keys[0]!, { order: 'desc', limit, ...extra })
  const of = (count: number, f: () => Promise<unknown>) => () => Promise.all(Array.from({ length: count }, f))
  const measures: Record<string, () => Promise<unknown>> = {
    'single read of latest': () => read(1), '16 reads of latest': of(16, () => read(1)),
    'page of 500': () => read(500), '8 pages of 500': of(8, () => read(500)), 'page of 500, asc from a time': () => read(500, { order: 'asc', from: start + 3000 }),
    'list of 100 documents': () => store.documents.list('doc/', { limit: 100 }), 'list of 1000 documents': () => store.documents.list('doc/', { limit: 1000 }),
    'names of resources': () => store.records.resources(`thing${r++ % 20}`),
    'single append': () => append(`thing${r++ % 20}`, [keys[1]!]), '64 appends': of(64, () => append(`thing${r++ % 20}`, [keys[1]!])),
    '4 batches of 100': of(4, () => append(`thing${r++ % 20}`, Array.from({ length: 100 }, () => keys[2]!))),
    '16 late appends': of(16, () => store.records.append({ thingId: `thing${r++ % 20}`, store: true, broadcast: true, receivedAt: Date.now(), answer: {}, records: [{ key: keys[1]!, datetime: start + 21_000 + (back += 7) % 20000, value: '3', place: 0, explicit: true }] })),
    'thing made and removed': async () => { const t = `guest${r++}`; await append(t, keys.slice(0, 10)); await store.records.removeThing(t) },
    backup: async () => { for await (const _ of store.backup!()); },
  }
  return { measures, end: async () => { await store.close(); await rm(location, { recursive: true }) } }
}
const [a, b] = [await side(trees[0]!), await side(trees[1]!)]
const rounds = 7, perRound: Record<string, number[]> = {}
for (let round = 0; round < rounds; round++) for (const name of Object.keys(a!.measures)) {
  const times: [number[], number[]] = [[], []]
  const begin = performance.now(), least = name === 'backup' || name.startsWith('thing') ? 4 : 30
  for (let i = 0; i < least || performance.now() - begin < 900; i++) for (const which of i % 2 ? [0, 1] : [1, 0]) {
    const s = [a!, b!][which]!, t = performance.now(); await s.measures[name]!(); times[which as 0 | 1].push(performance.now() - t)
    if (i > 2000) break
  }
  const med = (x: number[]) => x.sort((p, q) => p - q)[x.length >> 1]!
  ;(perRound[name] ??= []).push(med(times[1]) / med(times[0]))
  if (round === rounds - 1) { const x = perRound[name]!.map(v => v.toFixed(2)); const m = [...perRound[name]!].sort((p, q) => p - q)[rounds >> 1]!; console.log(name.padEnd(30), 'new/old rate: median', m.toFixed(2), x.join(' '), ' ms now', med(times[0]).toFixed(3), med(times[1]).toFixed(3)) }
}
await a!.end(); await b!.end(); process.exit(0)
