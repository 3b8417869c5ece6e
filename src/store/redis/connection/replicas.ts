import { Cluster } from 'ioredis'
import { ThingwireError } from '../../../errors.ts'
import type { Caller, Client } from '../script.ts'
import { longestBlock } from './connection.ts'
import type { DurabilityOptions } from './durability.ts'

/**
 * Runs commands that write, and resolves when `replicas` replicas have the write, on their disks with `replicasFsync`. Rejects
 * with `store_timeout` after 2 s: then the write is on the master, and a resend finds it and waits again.
 *
 * @param client used for nothing else, since it blocks (`duplicateForBlocking`)
 */
export function waitingForReplicas(client: Client, options: DurabilityOptions): Caller {
  const { replicas = 0, replicasFsync = false } = options
  const [wait, ...numbers] = replicasFsync ? ['WAITAOF', 1, replicas] : ['WAIT', replicas]
  return {
    async callBuffer(command, ...args) {
      // Both over one connection: WAIT waits for the writes of its own connection.
      const sent = client.pipeline().callBuffer(command, ...args)
      const replies = await sent.call(String(wait), ...numbers, longestBlock).exec()
      const [[refusal, reply] = [], [failure, reached] = []] = replies ?? []
      if (refusal) throw await followed(client, refusal)
      if (failure) throw failure
      // WAITAOF returns the master first.
      const [there] = [reached].flat().slice(-1)
      if (Number(there) < replicas) throw new ThingwireError('store_timeout')
      return reply
    },
  }
}

/** The client of a cluster follows a redirection for one command, but not for a pipeline: it refreshes its slots for the next try. */
async function followed(client: Client, refusal: Error): Promise<Error> {
  if (!(client instanceof Cluster && /^(MOVED|ASK) /.test(refusal.message))) return refusal
  await new Promise<unknown>(resolve => client.refreshSlotsCache(resolve))
  return new Error('the slot is served by another node')
}
