import { isDeepStrictEqual } from 'node:util'
import type { Server } from '../../src/server/index.ts'
import { httpDoor, mqttDoor } from './doors.ts'
import { faultIn, readingsOf } from './order.ts'
import { createProgress } from './progress.ts'
import { count, passages, place, profile } from './report.ts'
import { type SailedWrite, sail } from './sail.ts'
import { type ActivatedThing, readAverages, readLatest, readRecords } from './thing.ts'
import { positionKey, readVoyage, type Voyage } from './voyage.ts'
import { openWatcher, type Watcher } from './watcher.ts'

/**
 * Sails the voyage as fast as the server takes it, half over MQTT and half over HTTP, while it is watched live, and reads
 * it back.
 *
 * @returns whether every record was seen live, in order, and read back as it was sent
 */
export async function prove(server: Server, thing: ActivatedThing): Promise<boolean> {
  const resources = `${server.url}/v2/things/${thing.thingToken}/resources`
  const voyage = await readVoyage(new Date())
  const watcher = await openWatcher(server.webSocketUrl, thing)
  const writes = await sailBothDoors(server, thing, voyage, watcher)
  const isLiveComplete = await isSeen(watcher, writes, resources, voyage)
  const isStoredComplete = await isReadBack(resources, voyage)
  const depths = await readAverages(`${resources}/depth`, '5m')
  console.log(`\nDepth, five minutes a column, in metres:\n${profile(depths)}`)
  return isLiveComplete && isStoredComplete
}

async function sailBothDoors(
  server: Server,
  thing: ActivatedThing,
  voyage: Voyage,
  watcher: Watcher,
): Promise<SailedWrite[]> {
  const doors = [await mqttDoor(server.mqttUrl, thing), httpDoor(server.url, thing)]
  const total = voyage.records.length
  const show = createProgress(total, stored => {
    const live = watcher.readings.length + watcher.positions.length
    return `stored ${count(stored)} of ${count(total)} records, seen live ${count(live)}`
  })
  const passed = await sail(voyage, doors, show)
  for (const door of doors) await door.close()
  console.log(
    `\nStored durably, both doors at once, their writes taking turns in time:\n${passages(passed)}\n`,
  )
  return passed.flatMap(passage => passage.writes)
}

/** @returns whether the watcher was sent every reading once and in order, and ends at the last position */
async function isSeen(
  watcher: Watcher,
  writes: readonly SailedWrite[],
  resources: string,
  voyage: Voyage,
): Promise<boolean> {
  const { readings, positions } = watcher
  const sent = writes.flatMap(readingsOf).length
  const last = voyage.resources.get(positionKey)?.at(-1)
  const isLast = () => isDeepStrictEqual(positions.at(-1), last)
  // What does not arrive is told below.
  await watcher.until(() => readings.length >= sent && isLast()).catch(() => {})
  await watcher.close()
  const fault = faultIn(readings, writes)
  const now = await readLatest(`${resources}/${positionKey}`)
  const isThere = isDeepStrictEqual(now, last)
  console.log('Seen live, MQTT over WebSocket at QoS 1, things/<token>/values/#:')
  console.log(`readings   ${count(readings.length)} of ${count(sent)}, ${fault ?? 'each once and in order'}`)
  console.log(`positions  ${count(positions.length)}, the last ${place(positions.at(-1))}`)
  console.log(`REST says that the boat is at ${place(now)}${isThere ? '' : `, NOT at ${place(last)}`}\n`)
  return fault === undefined && isLast() && isThere
}

async function isReadBack(resources: string, voyage: Voyage): Promise<boolean> {
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
