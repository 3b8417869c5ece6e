import { setTimeout as delay } from 'node:timers/promises'
import type { Thing } from '../../test/helpers/http-client.ts'
import { openLink } from '../../test/soak/mqtt-link.ts'
import { keys } from './fill.ts'
import { type ObservedServer, startIdleProcess } from './observed.ts'
import type { EventLoopDelay } from './observer.ts'
import { RetainedReader } from './retained.ts'

export interface WildcardSetup {
  readonly observed: ObservedServer
  readonly dataDir: string
  readonly things: readonly Thing[]
  /** Things that have the rare key. */
  readonly rare: number
  readonly seconds: number
  /** A second, while it is measured; 0: none. */
  readonly writes: number
}

export interface WildcardResult {
  /** Milliseconds from SUBSCRIBE to the last retained message, sorted. */
  readonly common: readonly number[]
  readonly rare: readonly number[]
  readonly server: EventLoopDelay
  /** Of a process that did nothing meanwhile. */
  readonly idle: EventLoopDelay
  readonly acked: number
}

/** Subscribes to one key of all things again and again. */
export async function measureWildcard(setup: WildcardSetup): Promise<WildcardResult> {
  const { observed, dataDir, things, seconds } = setup
  const reader = await RetainedReader.open(observed.server)
  const times = { common: [] as number[], rare: [] as number[] }
  const idle = await startIdleProcess(dataDir)
  const end = performance.now() + seconds * 1_000
  await Promise.all([observed.eventLoopDelay(), idle.eventLoopDelay()])
  const writing = write(setup, end)
  for (let turn = 0; performance.now() < end; turn++) {
    const qos = (turn % 2) as 0 | 1
    times.common.push(await reader.time(`things/+/values/${keys.common}`, qos, things.length))
    times.rare.push(await reader.time(`things/+/values/${keys.rare}`, qos, setup.rare))
  }
  const acked = await writing
  const [server, seenIdle] = await Promise.all([observed.eventLoopDelay(), idle.eventLoopDelay()])
  await idle.stop()
  await reader.close()
  const sorted = (numbers: number[]) => numbers.sort((a, b) => a - b)
  return { common: sorted(times.common), rare: sorted(times.rare), server, idle: seenIdle, acked }
}

/** Writes one record at a time to another key of the first thing. @returns how many were acked */
async function write({ observed, things, writes }: WildcardSetup, end: number): Promise<number> {
  const [thing] = things
  if (writes === 0 || !thing) return 0
  const link = await openLink({
    url: observed.server.mqttUrl,
    clientId: 'writer',
    password: thing.thingToken,
  })
  let acked = 0
  let sent = 0
  const begin = performance.now()
  for (let now = begin; now < end; now = performance.now()) {
    for (const due = ((now - begin) / 1_000) * writes; sent < due; sent++) {
      const body = `{"values":[{"key":"written","value":${sent}}]}`
      void link.publish(`things/${thing.thingId}/write`, body).then(() => acked++)
    }
    await delay(5)
  }
  await link.ping()
  await link.disconnect()
  return acked
}
