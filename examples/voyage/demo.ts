import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { createServer, type Server } from '../../src/server/index.ts'
import { type Dashboard, openDashboard } from './dashboard.ts'
import { httpDoor, mqttDoor } from './doors.ts'
import { faultIn, readingsOf } from './order.ts'
import { createProgress } from './progress.ts'
import { commands, passages, place, profile } from './report.ts'
import { type SailedWrite, sail } from './sail.ts'
import { activateThing, readAverages, readLatest, readRecords } from './thing.ts'
import { positionKey, readVoyage } from './voyage.ts'

/**
 * `npm run demo`: starts the server on a data directory of its own, sails a real voyage into it, half over MQTT and
 * half over HTTP in turn, while a dashboard watches, reads it back, and keeps serving. With `--exit`, or without a
 * terminal, it ends by itself; its exit status says whether all was there.
 */

const endsByItself = process.argv.includes('--exit') || !process.stdin.isTTY
const dataDir = await mkdtemp(join(tmpdir(), 'thingwire-demo-'))
process.on('exit', () => rmSync(dataDir, { recursive: true, force: true }))
const server = await start()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => void stop(0))
console.log(`Thingwire is ready at ${server.url} and ${server.mqttUrl}, its data in ${dataDir}`)

const thing = await activateThing(server.url, server.adminKey.key)
const resources = `${server.url}/v2/things/${thing.thingToken}/resources`
console.log(`Activated thing ${thing.thingId}\n`)
const voyage = await readVoyage(new Date())
const dashboard = await openDashboard(server.webSocketUrl, thing)
const writes = await sailBothDoors()
const isLiveComplete = await watched(dashboard, writes)
const isStoredComplete = await readBack()
const depths = await readAverages(`${resources}/depth`, '5m')
console.log(`\nDepth, five minutes a column, in metres:\n${profile(depths)}`)
if (endsByItself) await stop(isLiveComplete && isStoredComplete ? 0 : 1)
console.log(`${commands(server.url, server.mqttUrl, thing.thingToken)}\n\nServing until Ctrl-C.`)

/** On the ports of the documentation if they are free, else on any. */
async function start(): Promise<Server> {
  const options = { dataDir, logLevel: 'warn', minFreeSpace: 0 } as const
  return createServer(options).catch(() => createServer({ ...options, httpPort: 0, mqttPort: 0 }))
}

async function stop(status: number): Promise<void> {
  await server.close()
  process.exit(status)
}

async function sailBothDoors(): Promise<SailedWrite[]> {
  const doors = [await mqttDoor(server.mqttUrl, thing), httpDoor(server.url, thing)]
  const total = voyage.records.length
  const show = createProgress(total, stored => {
    const live = dashboard.readings.length + dashboard.positions.length
    return `stored ${count(stored)} of ${count(total)} records, seen live ${count(live)}`
  })
  const passed = await sail(voyage, doors, show)
  for (const door of doors) await door.close()
  console.log(
    `\nStored durably, both doors at once, their writes taking turns in time:\n${passages(passed)}\n`,
  )
  return passed.flatMap(passage => passage.writes)
}

/** @returns whether the dashboard was sent every reading once and in order, and ends at the last position */
async function watched(dashboard: Dashboard, writes: readonly SailedWrite[]): Promise<boolean> {
  const { readings, positions } = dashboard
  const sent = writes.flatMap(readingsOf).length
  const last = voyage.resources.get(positionKey)?.at(-1)
  const isLast = () => isDeepStrictEqual(positions.at(-1), last)
  // What does not arrive is told below.
  await dashboard.until(() => readings.length >= sent && isLast()).catch(() => {})
  await dashboard.close()
  const fault = faultIn(readings, writes)
  const now = await readLatest(`${resources}/${positionKey}`)
  const isThere = isDeepStrictEqual(now, last)
  console.log('Seen live by a dashboard, MQTT over WebSocket at QoS 1, things/<token>/values/#:')
  console.log(`readings   ${count(readings.length)} of ${count(sent)}, ${fault ?? 'each once and in order'}`)
  console.log(`positions  ${count(positions.length)}, the last ${place(positions.at(-1))}`)
  console.log(`REST says that the boat is at ${place(now)}${isThere ? '' : `, NOT at ${place(last)}`}\n`)
  return fault === undefined && isLast() && isThere
}

/** @returns whether every record was read back as it was sent */
async function readBack(): Promise<boolean> {
  console.log('resource     in file   read back')
  let isComplete = true
  for (const [key, sent] of voyage.resources) {
    const stored = await readRecords(`${resources}/${key}`)
    const isEqual = isDeepStrictEqual(stored, sent)
    isComplete &&= isEqual
    const counts = `${String(sent.length).padStart(8)} ${String(stored.length).padStart(11)}`
    console.log(`${key.padEnd(11)} ${counts}  ${isEqual ? 'every value equal' : 'DIFFERENT'}`)
  }
  return isComplete
}

function count(number: number): string {
  return number.toLocaleString('en')
}
