import type { ServerProcess } from '../../test/helpers/server-process.ts'
import { residentMemory } from './server-child.ts'

/** Times pages of 100 records over HTTP, from random places of the time line of every key, in milliseconds, sorted. */
export async function timePages(
  base: string,
  keys: readonly string[],
  pages: number,
  from: number,
): Promise<number[]> {
  const times: number[] = []
  for (let page = 0; page < pages; page++) {
    const key = keys[page % keys.length]
    const endDate = new Date(from + Math.random() * (Date.now() - from)).toISOString()
    const begin = performance.now()
    const response = await fetch(`${base}/resources/${key}?limit=100&endDate=${endDate}`)
    const records = (await response.json()) as unknown[]
    times.push(performance.now() - begin)
    if (response.status !== 200 || records.length > 100) throw new Error(`no page: ${response.status}`)
  }
  return times.sort((a, b) => a - b)
}

export interface Export {
  readonly rows: number
  readonly rowsPerSecond: number
  /** How much more memory the server had after row 100,000, at most, than there; bytes. */
  readonly growth: number
}

const settled = 100_000
const sampleEvery = 50_000

/** Reads `rows` rows as CSV and watches the memory of the server meanwhile. */
export async function exportCsv(
  server: ServerProcess,
  base: string,
  key: string,
  rows: number,
): Promise<Export> {
  const begin = performance.now()
  const response = await fetch(`${base}/resources/${key}?limit=${rows}`, { headers: { accept: 'text/csv' } })
  if (!response.body) throw new Error(`no export: ${response.status}`)
  let seen = -1
  let sampledAt = 0
  let atSettled = 0
  let highest = 0
  for await (const piece of response.body) {
    for (const byte of piece) if (byte === 0x0a) seen++
    if (seen < sampledAt + sampleEvery) continue
    sampledAt = seen
    const memory = residentMemory(server)
    if (seen >= settled && atSettled === 0) atSettled = memory
    if (atSettled > 0) highest = Math.max(highest, memory)
  }
  return {
    rows: seen,
    rowsPerSecond: (seen / (performance.now() - begin)) * 1000,
    growth: highest - atSettled,
  }
}
