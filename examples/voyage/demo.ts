import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer, type Server } from '../../src/server/index.ts'
import { activateThing, type VoyageClient } from './client.ts'
import { createProgress } from './progress.ts'
import { readVoyage, type Voyage } from './voyage.ts'

/**
 * `npm run demo`: starts the server on a data directory of its own, sails a real voyage into it, reads it back, and
 * keeps serving. With `--exit`, or without a terminal, it ends by itself; its exit status says whether all was there.
 */

const recordsPerWrite = 100
const writesInFlight = 4

const endsByItself = process.argv.includes('--exit') || !process.stdin.isTTY
const dataDir = await mkdtemp(join(tmpdir(), 'thingwire-demo-'))
process.on('exit', () => rmSync(dataDir, { recursive: true, force: true }))
const server = await start()
process.once('SIGINT', () => void stop(0))
process.once('SIGTERM', () => void stop(0))
console.log(`Thingwire is ready at ${server.url}, its data in ${dataDir}`)

const thing = await activateThing(server.url, server.adminKey.key)
console.log(`Activated thing ${thing.thingId}\n`)
const voyage = await readVoyage(new Date())
await sail(voyage, thing)
const isComplete = await readBack(voyage, thing)
console.log(`\nDepth, five minutes a column, in metres:\n${profile(await thing.averages('depth', '5m'))}`)
console.log(commands())
if (endsByItself) await stop(isComplete ? 0 : 1)
else console.log('\nServing until Ctrl-C.')

/** On the port of the documentation if it is free, else on any. */
async function start(): Promise<Server> {
  const options = { dataDir, logLevel: 'warn', minFreeSpace: 0 } as const
  return createServer(options).catch(() => createServer({ ...options, httpPort: 0 }))
}

async function stop(status: number): Promise<void> {
  await server.close()
  process.exit(status)
}

async function sail({ rows, records }: Voyage, thing: VoyageClient): Promise<void> {
  const show = createProgress('records stored:', records.length)
  const begin = performance.now()
  let next = 0
  let stored = 0
  const sender = async () => {
    while (next < records.length) {
      const batch = records.slice(next, next + recordsPerWrite)
      next += recordsPerWrite
      await thing.write(batch)
      stored += batch.length
      show(stored)
    }
  }
  await Promise.all(Array.from({ length: writesInFlight }, sender))
  const seconds = (performance.now() - begin) / 1000
  const rate = Math.round(records.length / seconds)
  console.log(
    `\nStored ${records.length.toLocaleString('en')} records of ${rows.toLocaleString('en')} rows durably over HTTP` +
      ` in ${seconds.toFixed(1)} s: ${rate.toLocaleString('en')} records/s, ${recordsPerWrite} a write.\n`,
  )
}

async function readBack({ counts }: Voyage, thing: VoyageClient): Promise<boolean> {
  console.log('resource     in file   read back')
  let isComplete = true
  for (const [key, inFile] of counts) {
    const readBack = await thing.count(key)
    const verdict = readBack === inFile ? 'ok' : 'DIFFERENT'
    isComplete &&= readBack === inFile
    console.log(
      `${key.padEnd(11)} ${String(inFile).padStart(8)} ${String(readBack).padStart(11)}  ${verdict}`,
    )
  }
  return isComplete
}

/** Rows of blocks, deep water hanging down. */
function profile(depths: readonly number[]): string {
  const deepest = Math.max(...depths)
  const height = 6
  const rows = Array.from({ length: height }, (_, row) => {
    const label = ((deepest / height) * (row + 1)).toFixed(0).padStart(4)
    const cells = depths.map(depth => ((depth / deepest) * height > row + 0.5 ? '█' : ' '))
    return `${label} │${cells.join('')}`
  })
  return rows.join('\n')
}

function commands(): string {
  const base = `${server.url}/v2/things/${thing.thingToken}`
  return `
Try it:
  curl '${base}/resources'
  curl '${base}/resources/depth?limit=3'
  curl '${base}/resources/windSpeed?aggregate=avg,max&interval=30m'
  curl -H 'Accept: text/csv' '${base}/resources/speed' > speed.csv
  curl -d '{"values":[{"key":"depth","value":9.8}]}' '${base}'
  curl -d '{"values":[{"key":"no spaces","value":1}]}' '${base}'`
}
