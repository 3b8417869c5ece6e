import { ClassicLevel } from 'classic-level'
import { mkdtemp, rm } from 'node:fs/promises'
const location = await mkdtemp('/tmp/paired-')
const level = new ClassicLevel<Buffer, Buffer>(location, { keyEncoding: 'buffer', valueEncoding: 'buffer', writeBufferSize: 16 << 20 })
await level.open()
for (let i = 0; i < 20000; i += 100) { const b = level.batch(); for (let j = 0; j < 100; j++) { const k = Buffer.alloc(19, 'r'); k.writeUInt32BE(i + j, 5); b.put(k, Buffer.from('x21.5')) } await b.write() }
const page = async (first: number, grow: boolean, cap: number, want: number) => {
  const from = Buffer.alloc(19, 'r'); from.writeUInt32BE(Math.floor(Math.random() * 15000), 5)
  const it = level.iterator({ gte: from, lt: Buffer.from('s') }); let left = want, size = first
  while (left > 0) { const e = await it.nextv(Math.min(size, left)); if (e.length === 0) break; left -= e.length; if (grow) size = Math.min(size * 2, cap) }
  await it.close()
}
const ways: Record<string, () => Promise<void>> = {
  'one of 501': () => page(501, false, 0, 501), '128': () => page(128, false, 0, 501), '256': () => page(256, false, 0, 501), '128,256,..': () => page(128, true, 512, 501), '8..128 of 501': () => page(8, true, 128, 501) }
const wall: Record<string, number[]> = {}, cpu: Record<string, number> = {}
for (const n of Object.keys(ways)) { wall[n] = []; cpu[n] = 0 }
for (let r = 0; r < 1500; r++) for (const [n, f] of Object.entries(ways)) { const b = performance.now(), c = process.cpuUsage(); await f(); const d = process.cpuUsage(c); if (r > 200) { wall[n]!.push(performance.now() - b); cpu[n]! += d.user + d.system } }
for (const n of Object.keys(ways)) { const w = wall[n]!.sort((a, b) => a - b); console.log(n.padEnd(14), 'p25', w[Math.floor(w.length / 4)]!.toFixed(3), 'p50', w[w.length >> 1]!.toFixed(3), 'p90', w[Math.floor(w.length * 0.9)]!.toFixed(2), 'cpu us', (cpu[n]! / w.length).toFixed(0)) }
await level.close(); await rm(location, { recursive: true }); process.exit(0)
