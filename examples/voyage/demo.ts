import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createServer, type Server } from '../../src/server/index.ts'
import { httpDoor, mqttDoor } from './doors.ts'
import { createProgress } from './progress.ts'
import { prove } from './proof.ts'
import { commands, count, duration, signIn } from './report.ts'
import { sailInTime } from './sail-in-time.ts'
import { activateThing } from './thing.ts'
import { readVoyageFrom } from './voyage.ts'

/**
 * `npm run demo [-- --speed 60]`: starts the server on a data directory of its own, prints where its dashboard is and the
 * token to sign in with, and sails a real voyage into it from both doors, in real time or `--speed` (1 to 1,000) times as
 * fast, each row dated when it is sent. With `--exit`, or without a terminal, it sails as fast as it can, checks that all
 * was seen and kept, and ends; its exit status says whether it was.
 */

const { values } = parseArgs({
  options: { exit: { type: 'boolean', default: false }, speed: { type: 'string', default: '1' } },
})
const speed = Number(values.speed)
if (!(speed >= 1 && speed <= 1_000)) {
  console.error(`Cannot sail: --speed must be a number from 1 to 1000: current value is "${values.speed}"`)
  process.exit(1)
}
const dataDir = await mkdtemp(join(tmpdir(), 'thingwire-demo-'))
process.on('exit', () => rmSync(dataDir, { recursive: true, force: true }))
const server = await start()
const stopping = new AbortController()
// Ctrl-C may come twice: from the terminal, and handed on by npm.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => void stop(0))
console.log(`Thingwire is ready at ${server.url} and ${server.mqttUrl}`)
const thing = await activateThing(server.url, server.adminKey.key)
if (!values.exit && !process.stdin.isTTY) {
  console.log(
    'No terminal: sails as fast as it can, checks everything and ends. Run it in a terminal to watch.',
  )
}
if (values.exit || !process.stdin.isTTY) await stop((await prove(server, thing)) ? 0 : 1)

console.log(`${commands(server.url, server.mqttUrl, thing.thingToken)}\n`)
console.log(`${signIn(server.url, thing, join(dataDir, 'admin-key'))}\n`)
await sailBothDoors()
if (!stopping.signal.aborted) console.log('The voyage is over. Serving until Ctrl-C.')

/** On the ports of the documentation if they are free, else on any. */
async function start(): Promise<Server> {
  const options = { dataDir, logLevel: 'warn', minFreeSpace: 0 } as const
  return createServer(options).catch(() => createServer({ ...options, httpPort: 0, mqttPort: 0 }))
}

async function stop(status: number): Promise<void> {
  stopping.abort()
  await server.close()
  process.exit(status)
}

async function sailBothDoors(): Promise<void> {
  const doors = [await mqttDoor(server.mqttUrl, thing), httpDoor(server.url, thing)]
  const begin = Date.now()
  const { rows } = await readVoyageFrom(new Date(begin), speed)
  const whole = (rows.at(-1)?.measuredAt ?? begin) - begin
  const show = createProgress(rows.length, stored => {
    const sailed = (rows[stored - 1]?.measuredAt ?? begin) - begin
    return `row ${count(stored)} of ${count(rows.length)}, ${duration(sailed)} of ${duration(whole)}`
  })
  console.log(`The boat sails, over MQTT and HTTP in turn${speed === 1 ? '' : `, ${speed} times as fast`}:`)
  await sailInTime(rows, doors, show, stopping.signal)
  for (const door of doors) await door.close()
}
