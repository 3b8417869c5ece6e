import { Aedes } from 'aedes'
import createPersistence from 'aedes-persistence-redis'
import { Redis, type RedisOptions } from 'ioredis'
import createEmitter from 'mqemitter-redis'
import { publishInTurn } from './in-turn.ts'

export interface RedisBroker {
  readonly broker: Aedes
  /** Closes its connections, and then those to Redis. While Redis is away it waits. */
  close(): Promise<void>
}

/**
 * A broker that keeps its sessions, retained messages and wills in Redis, and hears of the messages of other nodes there.
 *
 * @param heartbeat how often a node says that it lives, milliseconds
 */
export async function createRedisBroker(url: string, heartbeat: number): Promise<RedisBroker> {
  const [conn, pubConn] = [connect(url), connect(url)]
  // ioredis may send a subscription before its ready check, which Redis then refuses. ioredis would connect again without the
  // subscription, and the broker would never answer SUBSCRIBE of a persistent session.
  const subConn = connect(url, { enableReadyCheck: false })
  const mq = createEmitter({ subConn, pubConn, matchEmptyLevels: true })
  for (const connection of [conn, subConn, pubConn]) {
    // mqemitter-redis has a listener of its own, which ends the process.
    connection.removeAllListeners('error').on('error', tell)
  }
  const persistence = createPersistence({ conn })
  const broker = await Aedes.createBroker({ persistence, mq, heartbeatInterval: heartbeat })
  broker.addListener('error', tell)
  publishInTurn(broker)
  const close = async () => {
    await new Promise<void>(resolve => broker.close(resolve))
    conn.disconnect()
  }
  return { broker, close }
}

/** While Redis is away a command waits. By default it would fail after some seconds, and a few of them end the process. */
function connect(url: string, options: RedisOptions = {}): Redis {
  return new Redis(url, { maxRetriesPerRequest: null, ...options })
}

function tell(error: Error): void {
  console.error(`Redis: ${error.message}`)
}
