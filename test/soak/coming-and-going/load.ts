import { join } from 'node:path'
import { preload } from '../../helpers/preload.ts'
import type { Exit } from '../../helpers/server-process.ts'
import { withDirectory } from '../../helpers/with-server.ts'
import { startServers } from '../servers.ts'
import { MemoryCurve } from './memory-curve.ts'
import { atPace, type Paced } from './pace.ts'
import { type Population, Visitors } from './visitors.ts'

export interface ComingAndGoing extends Population {
  readonly seconds: number
  /** Seconds between two looks at the memory. */
  readonly interval: number
  readonly onSample?: (curve: MemoryCurve) => void
}

export interface ComingAndGoingResult {
  readonly paced: readonly Paced[]
  readonly memory: MemoryCurve
  readonly exit: Exit
}

/** Each a second. */
const rates = { writes: 180, connects: 2.5, streams: 3, things: 4, reads: 18, refusals: 2 }

/** Clients that come and go, at one server with its embedded store and default options, and what its memory does. */
export function runComingAndGoing(setup: ComingAndGoing): Promise<ComingAndGoingResult> {
  return withDirectory(directory => run(setup, directory))
}

async function run(setup: ComingAndGoing, directory: string): Promise<ComingAndGoingResult> {
  const { seconds, interval, onSample } = setup
  const socket = join(directory, 'memory')
  const environment = { ...preload(new URL('memory-preload.ts', import.meta.url)), SOAK_MEMORY: socket }
  const { nodes, end } = await startServers(0, { environment })
  try {
    const [server] = nodes
    if (!server) throw new Error('there is no server')
    const visitors = await Visitors.come(server, setup)
    const memory = new MemoryCurve(socket)
    await memory.take()
    const look = async () => {
      await memory.take()
      onSample?.(memory)
    }
    const [looks, ...paced] = await Promise.all([
      atPace('looks at the memory', 1 / interval, seconds, look),
      atPace('writes', rates.writes, seconds, () => visitors.write()),
      atPace('connects', rates.connects, seconds, () => visitors.connect()),
      atPace('event streams', rates.streams, seconds, () => visitors.stream()),
      atPace('things made and removed', rates.things, seconds, () => visitors.makeAndRemove()),
      atPace('reads', rates.reads, seconds, () => visitors.read()),
      atPace('refused writes', rates.refusals, seconds, () => visitors.refuse()),
    ])
    if (looks.failures.length > 0) throw new Error(looks.failures[0])
    await visitors.go()
    return { paced, memory, exit: await server.stop() }
  } finally {
    await end()
  }
}
