import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createThing } from '../../test/helpers/http-client.ts'
import { JudgedLines } from '../../test/helpers/judged-lines.ts'
import { preload } from '../../test/helpers/preload.ts'
import { startServer } from '../../test/helpers/server-process.ts'
import { startIdleProcess } from '../live/observed.ts'
import type { Door } from '../load/doors.ts'
import { quantile } from '../statistics.ts'
import { Crowd } from './crowd.ts'
import { doorNames, Healthy } from './healthy.ts'
import { type LorisKind, lorisKinds } from './loris.ts'
import type { Memory } from './memory-preload.ts'

/**
 * `npm run bench:crowd [-- --connections 2000 --rate 200 --seconds 60 --loris 50]`: what a crowd does to healthy clients:
 * idle connections, then connects, then slow sockets of each kind. Ends with status 1 if a bound is missed. Linux only.
 */

const { values } = parseArgs({
  options: {
    connections: { type: 'string', default: '2000' },
    rate: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '60' },
    loris: { type: 'string', default: '50' },
  },
})
const connections = Number(values.connections)
const rate = Number(values.rate)
const seconds = Number(values.seconds)
/** Seconds in which nothing but the healthy clients is there. */
const quietSeconds = 20
const things = 20
/** Seconds within which slow sockets are gone. */
const timeouts: Readonly<Record<LorisKind, number>> = {
  'MQTT: CONNECT byte by byte': 30,
  'MQTT: PUBLISH byte by byte': 60,
  'WebSocket: pings instead of CONNECT': 30,
  'WebSocket: a message byte by byte': 60,
  'HTTP: head byte by byte': 30,
  'HTTP: body byte by byte': 120,
}
/** Seconds on top of them. */
const grace = 5

const judged = new JudgedLines()
const quiet = new Map<Door, number>()
const dataDir = await mkdtemp(join(tmpdir(), 'thingwire-bench-'))
const memoryPath = join(dataDir, 'memory.sock')
const server = await startServer({
  dataDir,
  environment: {
    ...preload(new URL('memory-preload.ts', import.meta.url)),
    BENCH_MEMORY: memoryPath,
    THINGWIRE_ADMIN_KEY: randomBytes(32).toString('hex'),
  },
})
/** What the machine itself does in the same seconds. */
const idle = await startIdleProcess(dataDir)
try {
  await bench()
} finally {
  await idle.stop()
  await server.stop()
  await rm(dataDir, { recursive: true, force: true })
}
process.exit(judged.broken === 0 ? 0 : 1)

async function bench(): Promise<void> {
  const made = await Promise.all(Array.from({ length: things }, () => createThing(server)))
  const healthy = await Healthy.start(server, await createThing(server))
  const { url, mqttUrl, webSocketUrl } = server
  const thingTokens = made.map(({ thingToken }) => thingToken)
  const crowd = await Crowd.start({ url, mqttUrl, webSocketUrl, thingTokens })

  await delay(2_000)
  await begin(healthy)
  console.log(`        ${quietSeconds} s of quiet`)
  await delay(quietSeconds * 1_000)
  await judgeAcks('quiet', healthy)

  const before = await memory()
  await begin(healthy)
  const { open } = await crowd.openIdle(connections, rate)
  await judgeAcks(`${connections} connections are opened, ${rate} a second`, healthy)
  judged.line(open === connections, `${open} of ${connections} idle connections are open`)
  await delay(quietSeconds * 1_000)
  await judgeAcks(`${connections} idle connections for ${quietSeconds} s`, healthy)
  const after = await memory()
  const each = (name: keyof Memory) => ((after[name] - before[name]) / connections / 1_024).toFixed(1)
  console.log(
    `        an idle connection takes ${each('resident')} KiB: resident memory after collection, of which ` +
      `${each('heap')} KiB heap, ${each('external')} KiB external; ${(before.resident / 1e6).toFixed(0)} MB without them`,
  )

  await begin(healthy)
  const { connected, failed } = await crowd.connect(rate, seconds)
  await judgeAcks(`${rate} connects a second for ${seconds} s`, healthy)
  const others = Object.entries(failed).map(([answer, count]) => `${count} got ${answer}`)
  judged.line(others.length === 0, [`${connected} connected and left again`, ...others].join(', '))

  if (Number(values.loris) > 0) await benchLoris(crowd, healthy)
  const stillOpen = await crowd.stillOpen()
  judged.line(
    stillOpen === connections,
    `${stillOpen} of ${connections} idle connections are open at the end`,
  )
  await healthy.stop()
  await crowd.stop()
}

async function benchLoris(crowd: Crowd, healthy: Healthy): Promise<void> {
  await begin(healthy)
  const deadlines = mapKinds(kind => timeouts[kind] + 2 * grace)
  for (const { kind, gone, left, first, last } of await crowd.loris(Number(values.loris), deadlines)) {
    judged.line(
      left === 0 && last <= timeouts[kind] + grace,
      `${kind}: ${gone} gone after ${first.toFixed(1)} to ${last.toFixed(1)} s (bound ${timeouts[kind]} + ${grace} s), ${left} left`,
    )
  }
  await judgeAcks(`${values.loris} slow sockets of each of ${lorisKinds.length} kinds`, healthy)
}

/** The first call is the quiet that the others are held against. */
async function judgeAcks(phase: string, healthy: Healthy): Promise<void> {
  const times = await healthy.take()
  const { p99: delayed, max } = await idle.eventLoopDelay()
  for (const door of doorNames) {
    const p99 = quantile(times[door], 0.99)
    const bound = Math.max(3 * (quiet.get(door) ?? Number.POSITIVE_INFINITY), 25)
    if (!quiet.has(door)) quiet.set(door, p99)
    const figures = `p50 ${ms(quantile(times[door], 0.5))}, p99 ${ms(p99)}, max ${ms(times[door].at(-1) ?? 0)}`
    const limit = Number.isFinite(bound) ? ` (bound of p99 ${ms(bound)})` : ''
    judged.line(p99 <= bound, `${phase}: ${times[door].length} acks over ${door}, ${figures}${limit}`)
  }
  console.log(
    `        meanwhile the event loop of an idle process was late by p99 ${ms(delayed)}, max ${ms(max)}`,
  )
}

/** Drops what was seen between two phases. */
async function begin(healthy: Healthy): Promise<void> {
  await healthy.take()
  await idle.eventLoopDelay()
}

async function memory(): Promise<Memory> {
  await delay(1_000)
  return JSON.parse(await text(connect(memoryPath))) as Memory
}

function mapKinds(of: (kind: LorisKind) => number): Record<LorisKind, number> {
  return Object.fromEntries(lorisKinds.map(kind => [kind, of(kind)])) as Record<LorisKind, number>
}

function ms(milliseconds: number): string {
  return `${milliseconds.toFixed(1)} ms`
}
