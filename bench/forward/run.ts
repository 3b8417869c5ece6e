import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { storeLocation } from '../../src/server/keeping/choose-store.ts'
import { createLevelStore } from '../../src/store/level/index.ts'
import { openStore } from '../../src/store/open-store.ts'
import { ask, createThing, type Thing } from '../../test/helpers/http-client.ts'
import { noRateLimits, type ServerProcess, startServer } from '../../test/helpers/server-process.ts'
import { openPath } from '../../test/helpers/tcp-path.ts'
import { withDirectory } from '../../test/helpers/with-server.ts'
import { openLoad } from '../nodes/load.ts'
import { createProgress, median, readOptions } from '../program.ts'

/**
 * `npm run bench:forward [-- --records 1000000 --things 20 --rounds 3]`: a backlog of records that were written one at a time is
 * forwarded to a central server, against what one load process brings to it over MQTT: things that write one record of the same
 * size at a time, each over a connection of its own. Both servers and the load are on this machine, and the two take turns. Ends
 * with status 1 if the median of the ratios is under its bound, or a record is missing.
 */

const {
  records,
  things: thingCount,
  rounds,
  seconds,
} = readOptions({ records: 1_000_000, things: 20, rounds: 3, seconds: 10 })
const leastRatio = 0.5
/** Seconds. */
const warmUp = 3
const lookEvery = 200
const writesInFlight = 500

const ratios: number[] = []
for (let round = 1; round <= rounds; round++) {
  const { direct, forwarded } = await withDirectory(playRound)
  ratios.push(forwarded / direct)
  const rates = `${Math.round(direct)} records/s of one load process, ${Math.round(forwarded)} of the backlog`
  console.log(`round ${round}: ${rates}: ${(forwarded / direct).toFixed(2)}`)
}
const ratio = median(ratios)
const holds = ratio >= leastRatio
const spread = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`
console.log(`${holds ? 'ok' : 'MISSED'}: ratio ${ratio.toFixed(2)} (${spread}), bound at least ${leastRatio}`)
if (!holds) process.exitCode = 1

/** @returns records a second */
async function playRound(
  directory: string,
): Promise<{ readonly direct: number; readonly forwarded: number }> {
  const central = await startServer({ dataDir: join(directory, 'central'), environment: noRateLimits })
  try {
    const load = await openLoad('MQTT', [central])
    const direct = await load(Number.POSITIVE_INFINITY, { warmUp, measured: seconds })
    return { direct: direct.done / direct.seconds, forwarded: await forward(directory, central) }
  } finally {
    await central.stop()
  }
}

/** @returns records a second, from when the link is there to the last acknowledgement */
async function forward(directory: string, central: ServerProcess): Promise<number> {
  const dataDir = join(directory, 'edge')
  const here: Thing[] = []
  const there: Thing[] = []
  const first = await startServer({ dataDir })
  for (let place = 0; place < thingCount; place++) {
    here.push(await createThing(first))
    there.push(await createThing(central))
  }
  await first.stop()
  const mapFile = join(directory, 'things.json')
  const map = here.map(({ thingId }, place) => [thingId, there[place]?.thingToken])
  await writeFile(mapFile, JSON.stringify(Object.fromEntries(map)), { mode: 0o600 })
  const path = await openPath(Number(new URL(central.mqttUrl).port))
  path.refuse()
  const args = ['--forward', `mqtt://127.0.0.1:${path.port}`, '--forward-things', mapFile]
  const start = () => startServer({ dataDir, args, environment: noRateLimits })
  // Forwarding begins with what is written from then on.
  await (await start()).stop()
  await fillBacklog(storeLocation(dataDir), here)
  const isCounted = ({ waiting }: Forwarding) => waiting.counted && waiting.records === records
  // A server that was given the records itself has applied them when it ends: so has this one.
  const before = await start()
  await until(before, isCounted)
  await before.stop()
  const edge = await start()
  try {
    await until(edge, isCounted)
    const begin = performance.now()
    path.restore()
    await until(edge, ({ waiting }) => waiting.records === 0)
    const took = (performance.now() - begin) / 1_000
    const stored = await Promise.all(there.map(({ thingId }) => countOf(central, thingId)))
    const sum = stored.reduce((total, count) => total + count, 0)
    if (sum !== records) throw new Error(`${sum} of ${records} records are at the central server`)
    return records / took
  } finally {
    await edge.stop()
    await path.close()
  }
}

/** As doors do, one record a write, each in the commit log. */
async function fillBacklog(location: string, things: readonly Thing[]): Promise<void> {
  const onProgress = createProgress(records, done => `records written: ${done.toLocaleString('en')}`)
  const store = await openStore(createLevelStore({ location, durability: 'written' }))
  store.records.logWhen(() => true)
  let next = 0
  const write = async () => {
    while (next < records) {
      const count = next++
      const thingId = things[count % things.length]?.thingId ?? ''
      const value = `${count / 10}`
      const record = { key: 'n', value, datetime: Number.NaN, explicit: false, place: 0 }
      await store.records.append({ thingId, records: [record], store: true, broadcast: true, answer: {} })
      if (count % 10_000 === 0) onProgress(count)
    }
  }
  await Promise.all(Array.from({ length: writesInFlight }, write))
  await store.close()
}

interface Forwarding {
  readonly waiting: { readonly records: number; readonly counted: boolean }
}

async function until(server: ServerProcess, isSo: (forwarding: Forwarding) => boolean): Promise<void> {
  while (!isSo(await ask<Forwarding>(server, 'GET', '/v2/admin/forward'))) await delay(lookEvery)
}

async function countOf(server: ServerProcess, thingId: string): Promise<number> {
  const path = `/v2/things/${thingId}/resources/n?aggregate=count&interval=366d&limit=1000`
  const counts = await ask<{ count: number }[]>(server, 'GET', path)
  return counts.reduce((sum, { count }) => sum + count, 0)
}
