import { Cluster } from 'ioredis'
import { ThingwireError } from '../../../errors.ts'
import type { Caller, Client } from '../script.ts'
import { longestBlock } from './connection.ts'
import type { DurabilityOptions } from './durability.ts'

/**
 * Runs commands that write, and answers when replicas have what was written: `replicas` of them, on their disks with
 * `replicasFsync`. Rejects with `store_timeout` where they have not within 2 s: it is written then, and a resend of the same
 * finds it and waits again.
 *
 * @param client one for such commands alone: it runs no other one meanwhile (`duplicateForBlocking`)
 */
export function waitingForReplicas(client: Client, options: DurabilityOptions): Caller {
  const { replicas = 0, replicasFsync = false } = options
  const [wait, ...numbers] = replicasFsync ? ['WAITAOF', 1, replicas] : ['WAIT', replicas]
  return {
    async callBuffer(command, ...args) {
      // Both go over one connection, whatever happens to it: WAIT is about what its own connection has written.
      const sent = client.pipeline().callBuffer(command, ...args)
      const replies = await sent.call(String(wait), ...numbers, longestBlock).exec()
      const [[refusal, reply] = [], [failure, reached] = []] = replies ?? []
      if (refusal) throw await followed(client, refusal)
      if (failure) throw failure
      // WAITAOF gives the master first.
      const [there] = [reached].flat().slice(-1)
      if (Number(there) < replicas) throw new ThingwireError('store_timeout')
      return reply
    },
  }
}

/** A cluster's client follows one command to where its slot is now, but not two. So the next try is to find it there. */
async function followed(client: Client, refusal: Error): Promise<Error> {
  if (!(client instanceof Cluster && /^(MOVED|ASK) /.test(refusal.message))) return refusal
  await new Promise<unknown>(resolve => client.refreshSlotsCache(resolve))
  return new Error('the slot is served by another node')
}
