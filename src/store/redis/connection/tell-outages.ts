import { Cluster, type Redis } from 'ioredis'
import type { Client } from '../script.ts'
import { shownAddress } from './redis-url.ts'
import type { Statement } from './statement.ts'

/**
 * Says when a connection to Redis is lost, and when there is one again: once each, however often the client tries. Of a
 * cluster any connection counts for the latter, since behind a failover it is another server that answers.
 *
 * @param client connected
 * @returns how to stop
 */
export function tellOutages(client: Client, say: (statement: Statement) => void): () => void {
  let isLost = false
  let isStopped = false
  const tell = (level: Statement['level'], text: string) => {
    if (!isStopped) say({ level, text })
  }
  const watch = (redis: Redis) => {
    const address = shownAddress(redis.options)
    let isConnected = redis.status === 'ready'
    let newest: NodeJS.ErrnoException | undefined
    redis.on('error', error => {
      newest = error
    })
    redis.on('close', () => {
      if (isConnected)
        tell('warn', `the connection to Redis at ${address} is lost: ${newest?.code ?? 'closed'}`)
      isLost ||= isConnected
      isConnected = false
    })
    redis.on('ready', () => {
      if (isLost) tell('info', `connected to Redis again, at ${address}`)
      isLost = false
      isConnected = true
      newest = undefined
    })
  }
  if (client instanceof Cluster) {
    for (const redis of client.nodes()) watch(redis)
    client.on('+node', watch)
  } else watch(client)
  return () => {
    isStopped = true
  }
}
