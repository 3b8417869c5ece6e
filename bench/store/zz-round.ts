const tree = process.argv[2]!
const { createLevelStore } = await import(`${tree}/src/store/level/index.ts`)
const { openStore } = await import(`${tree}/src/store/open-store.ts`)
import { mkdtemp, rm } from 'node:fs/promises'
const location = await mkdtemp('/tmp/paired-')
const store = await openStore(createLevelStore({ location, durability: 'written' }))
const cpu: Record<string, number> = {}
let n = 0
const start = Date.now() - 3_600_000 * 24
const append = (thing: number, keys: string[], step = 1) => store.records.append({
  thingId: `thing${thing}`, store: true, broadcast: true, receivedAt: Date.now(), answer: {},
  records: keys.map((key, place) => ({ key, datetime: start + (n += step), value: '21.5', place, explicit: true })),
})
async function timed(name: string, seconds: number, parallel: number, task: () => Promise<unknown>) {
  const begin = performance.now(); let done = 0; const c0 = process.cpuUsage()
  const worker = async () => { while (performance.now() - begin < seconds * 1000) { await task(); done++ } }
  await Promise.all(Array.from({ length: parallel }, worker))
  const c = process.cpuUsage(c0); cpu[name] = Math.round((c.user + c.system) / done)
  return [name, Math.round(done / ((performance.now() - begin) / 1000))] as const
}
const keys = Array.from({ length: 50 }, (_, i) => `key${i}`)
for (let i = 0; i < 12_000; i += 100) await Promise.all(Array.from({ length: 100 }, (_, j) => append((i + j) % 20, [keys[0]!])))
for (let t = 0; t < 20; t++) await append(t, keys)
for (let d = 0; d < 2000; d += 100) await store.documents.transact(Array.from({ length: 100 }, (_, j) => `doc/${d + j}`), () => ({ put: Object.fromEntries(Array.from({ length: 100 }, (_, j) => [`doc/${d + j}`, { a: 1, b: 'text' }])), result: undefined }))
const S = Number(process.argv[3] ?? 1)
const out: (readonly [string, number])[] = []
let r = 0
const read = (limit: number) => store.records.read(`thing${r++ % 20}`, keys[0]!, { order: 'desc', limit })
out.push(await timed('latest x1', S, 1, () => read(1)))
out.push(await timed('latest x16', S, 16, () => read(1)))
out.push(await timed('page500 x1', S, 1, () => read(500)))
out.push(await timed('page500 x8', S, 8, () => read(500)))
out.push(await timed('documents100', S, 1, () => store.documents.list('doc/', { limit: 100 })))
out.push(await timed('documents1000', S, 1, () => store.documents.list('doc/', { limit: 1000 })))
out.push(await timed('append x1', S, 1, () => append(r++ % 20, [keys[1]!])))
out.push(await timed('append x64', S, 64, () => append(r++ % 20, [keys[1]!])))
out.push(await timed('batch100 x4', S, 4, () => append(r++ % 20, Array.from({ length: 100 }, () => keys[2]!))))
let back = 0
out.push(await timed('late x16', S, 16, () => store.records.append({ thingId: `thing${r++ % 20}`, store: true, broadcast: true, receivedAt: Date.now(), answer: {}, records: [{ key: keys[1]!, datetime: start + 13_000 + (back += 7) % 20000, value: '3', place: 0, explicit: true }] })))
out.push(await timed('things made+removed', S, 1, async () => { const t = 1000 + r++; await append(t, keys.slice(0, 10)); await store.records.removeThing(`thing${t}`) }))
let bytes = 0
const b0 = performance.now()
for await (const part of store.backup!()) bytes += part.length
out.push(['backup MB/s', bytes / 1e3 / (performance.now() - b0)])
await store.close()
await rm(location, { recursive: true })
console.log(JSON.stringify({ rate: Object.fromEntries(out), cpu }))
process.exit(0)
