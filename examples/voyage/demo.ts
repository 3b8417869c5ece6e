import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { createServer, type Server } from '../../src/server/index.ts'
import { httpDoor, mqttDoor } from './doors.ts'
import { commands, passages, profile } from './report.ts'
import { sail } from './sail.ts'
import { activateThing, readAverages, readRecords } from './thing.ts'
import { readVoyage, type Voyage } from './voyage.ts'

/**
 * `npm run demo`: starts the server on a data directory of its own, sails a real voyage into it, half over MQTT and
 * half over HTTP in turn, reads it back, and keeps serving. With `--exit`, or without a terminal, it ends by
 * itself; its exit status says whether all was there.
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
const isComplete = await sailBothDoors(voyage)
const depths = await readAverages(`${resources}/depth`, '5m')
console.log(`\nDepth, five minutes a column, in metres:\n${profile(depths)}`)
if (endsByItself) await stop(isComplete ? 0 : 1)
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

/** @returns whether every record was read back as it was sent */
async function sailBothDoors(voyage: Voyage): Promise<boolean> {
  const doors = [await mqttDoor(server.mqttUrl, thing), httpDoor(server.url, thing)]
  const passed = await sail(voyage, doors)
  for (const door of doors) await door.close()
  console.log(
    `\nStored durably, both doors at once, their writes taking turns in time:\n${passages(passed)}\n`,
  )
  return await readBack(voyage)
}

async function readBack(voyage: Voyage): Promise<boolean> {
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
