import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { signInLink } from '../../core/token.ts'
import { createServer, type Server } from '../../server/index.ts'
import type { ServerOptions } from '../../server/options/options.ts'
import { urlForBrowsers } from '../../server/reachable.ts'
import { exitStatus } from '../exit.ts'
import { grouped } from '../output.ts'
import { durationText, Progress } from '../progress.ts'
import { type Door, openDoor } from './doors.ts'
import { earlierRows, type Passage, sendHistory } from './history.ts'
import { type Measurement, measurementsOf } from './instruments.ts'
import { prove } from './proof.ts'
import { clock, commands } from './report.ts'
import { createSession, type RegisteredInstrument, registerInstruments } from './service.ts'
import { readVoyage, readVoyageUnderWay } from './voyage.ts'
import { openWatcher } from './watcher.ts'

/** How much of the voyage is over when the demo starts, milliseconds: enough to fill a one-hour chart, with over an hour to go. */
const alreadySailed = 165 * 60_000

export interface DemoOptions {
  /** Speed of the rest of the voyage, 1 to 1,000 times the real speed. */
  readonly speed: number
  /** Whether to send everything as fast as possible, check that all data were seen live and stored, and end. */
  readonly exit: boolean
  /** Address and ports. A given port is never replaced by another one. */
  readonly options: Partial<ServerOptions>
}

interface Demo {
  readonly server: Server
  readonly things: readonly RegisteredInstrument[]
  readonly doors: readonly Door[]
  readonly sessionToken: string
}

/** Runs the demo in a temporary data directory, which is removed at the end. Ends at Ctrl-C. @returns the exit status */
export async function runDemo(options: DemoOptions): Promise<number> {
  const dataDir = await mkdtemp(join(tmpdir(), 'thingwire-demo-'))
  process.on('exit', () => rmSync(dataDir, { recursive: true, force: true }))
  const stopping = new AbortController()
  // Not `once`, since Ctrl-C may arrive twice, from the terminal and from npm, and the second signal would kill the process.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => stopping.abort())
  const stopped = once(stopping.signal, 'abort').then(() => (options.exit ? exitStatus.interrupted : 0))
  const server = await start(dataDir, options.options)
  const work = show(server, options, stopping.signal)
  // When the server is closed, it may cut off a write. That is not an error.
  work.catch(() => {})
  try {
    return await Promise.race([work, stopped])
  } finally {
    await server.close()
  }
}

/** Starts the server on the default ports if they are free, else on any free ports. */
async function start(dataDir: string, given: DemoOptions['options']): Promise<Server> {
  const options = { dataDir, logLevel: 'warn', minFreeSpace: 0 } as const
  return createServer({ ...options, ...given }).catch(() =>
    createServer({ ...options, httpPort: 0, mqttPort: 0, ...given }),
  )
}

async function show(server: Server, options: DemoOptions, stopping: AbortSignal): Promise<number> {
  console.log(`Thingwire is ready at ${urlForBrowsers(server.url)} and ${urlForBrowsers(server.mqttUrl)}`)
  const { key } = server.adminKey
  const things = await registerInstruments(server.url, key)
  const doors = await Promise.all(things.map(thing => openDoor(server, thing)))
  const demo = { server, things, doors, sessionToken: await createSession(server.url, key, things) }
  return options.exit ? await check(demo) : await sail(demo, options, stopping)
}

/** @returns 0 if all written records were seen live and can be read back, else 1 */
async function check(demo: Demo): Promise<number> {
  const now = new Date()
  const watcher = await openWatcher(demo.server.webSocketUrl, demo.sessionToken)
  const rows = [...(await earlierRows(now)), ...(await readVoyage(now))]
  const passages = await writeHistory(demo, thing => measurementsOf(thing, rows))
  for (const door of demo.doors) await door.close()
  return (await prove(demo.server, passages, watcher)) ? 0 : 1
}

async function sail(demo: Demo, { speed }: DemoOptions, stopping: AbortSignal): Promise<number> {
  const { server, things, doors, sessionToken } = demo
  const now = new Date()
  const rows = [...(await earlierRows(now)), ...(await readVoyageUnderWay(now, alreadySailed, speed))]
  const isOver = ({ measuredAt }: Measurement) => measuredAt <= now.getTime()
  await writeHistory(demo, thing => measurementsOf(thing, rows).filter(isOver))
  console.log(`Today's began ${durationText(alreadySailed)} ago. The boat sails on while you watch.\n`)
  console.log('Open this link in a browser. It signs you in for one day:\n')
  console.log(`  ${signInLink(urlForBrowsers(server.url), sessionToken)}\n`)
  const sounder = things.find(({ door }) => door === 'HTTP')
  if (sounder) console.log(`${commands(urlForBrowsers(server.url), sounder)}\n`)
  console.log('Ctrl-C ends the demo and removes its data.')
  const progress = new Progress()
  const end = rows.at(-1)?.measuredAt ?? 0
  const pace = speed === 1 ? '' : `, ${speed} times as fast as it was`
  const say = (measuredAt: number) => progress.show(() => `Live${pace}: ${clock(end - measuredAt)} to sail`)
  const sailing = things.map(async (thing, at) => {
    const door = doors[at]
    const toCome = measurementsOf(thing, rows).filter(measurement => !isOver(measurement))
    if (door) await sendInTime(door, toCome, say, stopping)
  })
  await Promise.all(sailing).finally(() => progress.clear())
  if (!stopping.aborted) console.log('The voyage is over. The server runs until Ctrl-C.')
  if (!stopping.aborted) await once(stopping, 'abort')
  return 0
}

async function writeHistory(
  { things, doors }: Demo,
  measured: (thing: RegisteredInstrument) => readonly Measurement[],
): Promise<readonly Passage[]> {
  const begin = performance.now()
  const progress = new Progress()
  let stored = 0
  const passages = things.map(async (thing, at) => {
    const door = doors[at]
    if (!door) throw new Error(`${thing.name} has no door`)
    return await sendHistory(thing, door, measured(thing), records => {
      stored += records
      progress.show(() => `${grouped(stored)} readings stored`)
    })
  })
  const sent = await Promise.all(passages).finally(() => progress.clear())
  const seconds = ((performance.now() - begin) / 1000).toFixed(1)
  const names = things.map(({ name }) => name).join(', ')
  console.log(`Stored ${grouped(stored)} readings of three things in ${seconds} s: ${names}.
They are one real sailing voyage of four hours, stored four times: once for
each of the last three days, and once for today.`)
  return sent
}

/**
 * Sends each measurement at the time when it is made.
 *
 * @param onStored called with the time of each acknowledged measurement, milliseconds since 1970
 * @param stopping once it is aborted, no further write begins
 * @throws Error if a write was not acknowledged
 */
export async function sendInTime(
  door: Door,
  measurements: readonly Measurement[],
  onStored: (measuredAt: number) => void,
  stopping: AbortSignal,
): Promise<void> {
  for (const { measuredAt, records } of measurements) {
    const wait = Math.max(0, measuredAt - Date.now())
    await delay(wait, undefined, { signal: stopping }).catch(() => {})
    if (stopping.aborted) return
    await door.write(records)
    onStored(measuredAt)
  }
}
