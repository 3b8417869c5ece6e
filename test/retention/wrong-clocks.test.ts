import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Belief } from '../../src/retention/believed-clock.ts'
import { createLevelStore } from '../../src/store/level/index.ts'
import { openStore } from '../../src/store/open-store.ts'
import { createRedisStore } from '../../src/store/redis/index.ts'
import { startNode } from '../helpers/cluster.ts'
import { createThing, readAll, write as send, type Thing } from '../helpers/http-client.ts'
import { otherClock } from '../helpers/other-clock.ts'
import { preload } from '../helpers/preload.ts'
import { redisClientOfTest, redisOfTest } from '../helpers/redis-of-test.ts'
import { noRateLimits, type ServerProcess, startServer } from '../helpers/server-process.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
/** It looks every second, because of the second rule, which no record here is of. */
const environment = { ...noRateLimits, THINGWIRE_RETENTION: '2d,none=1s', THINGWIRE_SHUTDOWN_TIMEOUT: '1000' }

/** A server and the clock of its store. */
interface Place {
  setClock(ahead: number): Promise<void>
  start(): Promise<ServerProcess>
  /** While no server is running. */
  changeBelief(change: (belief: Belief) => Belief): Promise<void>
}

async function embedded(): Promise<Place> {
  const dataDir = await temporaryDirectory()
  const clock = join(await temporaryDirectory(), 'clock')
  const { FAKETIME: _, ...wrong } = otherClock('+0')
  const ofClock = { FAKETIME_TIMESTAMP_FILE: clock, FAKETIME_CACHE_DURATION: '1' }
  return {
    setClock: async ahead => writeFileSync(clock, `+${ahead / 1_000}`),
    start: () => startServer({ dataDir, environment: { ...environment, ...wrong, ...ofClock } }),
    changeBelief: change => changeIn(createLevelStore({ location: join(dataDir, 'store') }), change),
  }
}

async function redis(): Promise<Place> {
  const { url } = await redisOfTest()
  const client = await redisClientOfTest(url)
  const ahead = preload(new URL('redis-clock-ahead.ts', import.meta.url))
  return {
    setClock: async by => void (await client.callBuffer('SET', 'clock-ahead', by / 1_000)),
    start: () => startNode(url, 'k'.repeat(40), { environment: { ...environment, ...ahead } }),
    changeBelief: change => changeIn(createRedisStore({ url }), change),
  }
}

async function changeIn(driver: Parameters<typeof openStore>[0], change: (belief: Belief) => Belief) {
  const { documents, close } = await openStore(driver)
  const belief = (await documents.get('believed-clock')) as unknown as Belief
  await documents.put({ 'believed-clock': { ...change(belief) } }, 'essential')
  await close()
}

class Server {
  readonly #place: Place
  #process: ServerProcess | undefined

  constructor(place: Place) {
    this.#place = place
    onTestFinished(async () => void (await this.#process?.kill()))
  }

  get running(): ServerProcess {
    if (!this.#process) throw new Error('no server is running')
    return this.#process
  }

  /** Starts it again, and waits until retention has looked at everything once. @param ahead of the clock, milliseconds */
  async start(ahead = 0): Promise<void> {
    await this.#process?.stop()
    await this.#place.setClock(ahead)
    this.#process = await this.#place.start()
    await expect.poll(() => this.#lastLook()).toBeGreaterThan(0)
  }

  async stop(): Promise<void> {
    await this.#process?.stop()
  }

  setClock(ahead: number): Promise<void> {
    return this.#place.setClock(ahead)
  }

  /** Resolves when retention has begun to look at everything, and has ended, after this call. */
  async looked(): Promise<void> {
    for (let looks = 0; looks < 2; looks++) {
      const before = await this.#lastLook()
      await expect.poll(() => this.#lastLook()).not.toBe(before)
    }
  }

  /** 0: not yet. */
  async #lastLook(): Promise<number> {
    const headers = { authorization: `Bearer ${this.running.adminKey}` }
    const metrics = await (await fetch(`${this.running.url}/metrics`, { headers })).text()
    return Number(/^thingwire_retention_last_run_timestamp_seconds (\S+)$/m.exec(metrics)?.[1] ?? 0)
  }
}

/** Writes 1,000 records of the last day. */
async function writeRecords(server: Server): Promise<Thing> {
  const thing = await createThing(server.running)
  await writeFrom(server, thing, Date.now() - day, 1_000)
  return thing
}

async function writeFrom(server: Server, thing: Thing, from: number, count: number): Promise<void> {
  const values = Array.from({ length: count }, (_, at) => {
    return { key: 'n', value: at, datetime: new Date(from + at * minute).toISOString() }
  })
  expect((await send(server.running, thing, { values })).status).toBe(201)
}

/** Writes to another resource until its receipt times are ahead by so many milliseconds. */
async function writeUntil(server: Server, thing: Thing, ahead: number): Promise<void> {
  const write = async () => {
    await send(server.running, thing, { values: [{ key: 'other', value: 1 }] })
    const [newest] = await readAll(server.running, thing, 'other')
    return Date.parse(newest?.datetime ?? '') - Date.now()
  }
  await expect.poll(write).toBeGreaterThan(ahead - minute)
}

async function recordsOf(server: Server, thing: Thing): Promise<number> {
  return (await readAll(server.running, thing, 'n')).length
}

interface Start {
  readonly ahead: number
  /** The clock leaps by this much while the server runs. */
  readonly leap?: number
  readonly isWritten?: boolean
}

const isWritten = true
const table: readonly (readonly [string, readonly Start[]])[] = [
  ['40 days ahead, and nothing is written', [{ ahead: 40 * day }]],
  ['40 days ahead', [{ ahead: 40 * day, isWritten }]],
  [
    '40 days ahead in two starts',
    [
      { ahead: 40 * day, isWritten },
      { ahead: 40 * day, isWritten },
    ],
  ],
  ['leaping by 40 days in the run', [{ ahead: 0, leap: 40 * day, isWritten }]],
  ['26 h ahead', [{ ahead: 26 * hour, isWritten }]],
  [
    '23 h further ahead at each of three starts',
    [23, 46, 69].map(hours => ({ ahead: hours * hour, isWritten })),
  ],
]

describe.each([
  ['embedded', embedded],
  ['redis', redis],
])('retention of a server with the %s store', (_, placeOf) => {
  it.each(table)('loses nothing to a clock that was %s', async (_name, starts) => {
    const server = new Server(await placeOf())
    await server.start()
    const thing = await writeRecords(server)
    for (const { ahead, leap = ahead, isWritten } of starts) {
      await server.start(ahead)
      await server.setClock(leap)
      if (isWritten) {
        await writeUntil(server, thing, leap)
        await server.looked()
      }
      expect(await recordsOf(server, thing)).toBe(1_000)
    }
    await server.start()
    expect(await recordsOf(server, thing)).toBe(1_000)
    await writeFrom(server, thing, Date.now() - 3 * day, 500)
    await expect.poll(() => recordsOf(server, thing)).toBe(1_000)
  })

  it('moves again after a day when the server was off for a month', async () => {
    const place = await placeOf()
    const server = new Server(place)
    await server.start()
    const thing = await writeRecords(server)
    await server.start(30 * day)
    expect(await recordsOf(server, thing)).toBe(1_000)
    await server.stop()
    await place.changeBelief(({ time }) => ({ time, ahead: { least: time + 30 * day, ran: day - 1 } }))
    await server.start(30 * day)
    expect(await recordsOf(server, thing)).toBe(1)
  })
})
