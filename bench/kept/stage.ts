import { join } from 'node:path'
import { ask, type Thing } from '../../test/helpers/http-client.ts'
import { connectAccepted, type MqttClient } from '../../test/helpers/mqtt-client.ts'
import { noRateLimits, type ServerProcess } from '../../test/helpers/server-process.ts'
import { startOwnServer } from '../peers/product.ts'
import { makeBenchDirectory } from '../program.ts'
import { WatchedTurns } from '../turns/watched-turns.ts'

const grants = [
  { filter: 'tele/#', access: 'read' },
  { filter: 'tele/#', access: 'write' },
]
const sessionsAtOnce = 20

/** A server that relays `tele/#` in a heap of 512 MB. */
export interface Stage {
  readonly server: ServerProcess
  readonly dataDir: string
  readonly turns: WatchedTurns
}

/** A session that is away. */
export interface Away {
  readonly username: string
  readonly clientId: string
}

export async function openStage(): Promise<Stage> {
  const dataDir = await makeBenchDirectory()
  const turns = new WatchedTurns(join(dataDir, 'turns.sock'))
  const { NODE_OPTIONS: watching } = turns.environment
  const options = { NODE_OPTIONS: `${watching} --max-old-space-size=512`, THINGWIRE_TOPICS: 'tele/#' }
  const environment = { ...noRateLimits, ...turns.environment, ...options }
  const server = await startOwnServer({ dataDir, environment })
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
