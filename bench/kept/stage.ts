import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ask, type Thing } from '../../test/helpers/http-client.ts'
import { connectAccepted, type MqttClient } from '../../test/helpers/mqtt-client.ts'
import { preload } from '../../test/helpers/preload.ts'
import { noRateLimits, type ServerProcess, startServer } from '../../test/helpers/server-process.ts'
import { makeBenchDirectory } from '../bench-directory.ts'
import { endWithUs } from '../peers/program.ts'

const grants = [
  { filter: 'tele/#', access: 'read' },
  { filter: 'tele/#', access: 'write' },
]
const sessionsAtOnce = 20
const watched = preload(new URL('../turns/turns-preload.ts', import.meta.url))

/** A server that relays `tele/#` in a heap of 512 MB. */
export interface Stage {
  readonly server: ServerProcess
  readonly dataDir: string
  /** Socket of `turns-preload.ts`. */
  readonly turns: string
}

/** A session that is away. */
export interface Away {
  readonly username: string
  readonly clientId: string
}

export async function openStage(): Promise<Stage> {
  const dataDir = await makeBenchDirectory()
  const turns = join(dataDir, 'turns.sock')
  const server = await startServer({
    dataDir,
    environment: {
      ...noRateLimits,
      BENCH_TURNS: turns,
      NODE_OPTIONS: `${watched.NODE_OPTIONS} --max-old-space-size=512`,
      THINGWIRE_TOPICS: 'tele/#',
    },
  })
  endWithUs(server.process)
  return { server, dataDir, turns }
}

/** A new thing that may use `tele/#`. */
export function thingOn(server: ServerProcess): Promise<Thing> {
  return ask<Thing>(server, 'POST', '/v2/admin/things', { topics: grants })
}

/** A connection of a new thing. */
export async function publisherOn(server: ServerProcess): Promise<MqttClient> {
  const { thingToken: username } = await thingOn(server)
  return await connectAccepted({ url: server.mqttUrl, username, clientId: 'publisher', deadline: 600_000 })
}

/** One session of the thing for each filter, each subscribed at QoS 1. */
export async function leaveSessions(
  { mqttUrl: url }: ServerProcess,
  { thingToken: username }: Thing,
  filters: readonly string[],
): Promise<readonly Away[]> {
  const leave = async (filter: string): Promise<Away> => {
    const clientId = `away-${Math.random().toString(36).slice(2, 12)}`
    const client = await connectAccepted({ url, username, clientId, clean: false })
    await client.subscribe(filter, 1)
    await client.disconnect()
    return { username, clientId }
  }
  const sessions: Away[] = []
  for (let from = 0; from < filters.length; from += sessionsAtOnce)
    sessions.push(...(await Promise.all(filters.slice(from, from + sessionsAtOnce).map(leave))))
  return sessions
}

/** Peak of the resident memory, KB. @param anew whether the kernel forgets the peak before */
export async function peakOf(pid: number, anew: boolean): Promise<number> {
  if (anew) await writeFile(`/proc/${pid}/clear_refs`, '5')
  const status = await readFile(`/proc/${pid}/status`, 'latin1')
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1])
}
