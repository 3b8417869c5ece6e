import { Cluster } from 'ioredis'
import { ThingwireError } from '../../../errors.ts'
import type { Caller, Client } from '../script.ts'
import { longestBlock } from './connection.ts'
import type { DurabilityOptions } from './durability.ts'

/**
 * Runs commands that write. A call resolves when `replicas` replicas have the write (with `replicasFsync`, on disk). After 2 s the
 * call rejects with `store_timeout`. The write is then on the master, and a resend finds the write there and waits again.
 *
 * @param client used only here, since its commands block (`duplicateForBlocking`)
 */
export function waitingForReplicas(client: Client, options: DurabilityOptions): Caller {
  const { replicas = 0, replicasFsync = false } = options
  const [wait, ...numbers] = replicasFsync ? ['WAITAOF', 1, replicas] : ['WAIT', replicas]
  return {
    async callBuffer(command, ...args) {
      // Both commands use one connection, since WAIT waits only for the writes of its own connection.
      const sent = client.pipeline().callBuffer(command, ...args)
      const replies = await sent.call(String(wait), ...numbers, longestBlock).exec()
      const [[refusal, reply] = [], [failure, reached] = []] = replies ?? []
      if (refusal) throw await followed(client, refusal)
      if (failure) throw failure
      // WAITAOF returns two counts: masters first, then replicas.
      const [there] = [reached].flat().slice(-1)
      if (Number(there) < replicas) throw new ThingwireError('store_timeout')
      return reply
    },
  }
}

/** After a redirection, refreshes the slots for the next try: a cluster client does not follow redirections of a pipeline. */
async function followed(client: Client, refusal: Error): Promise<Error> {
  if (!(client instanceof Cluster && /^(MOVED|ASK) /.test(refusal.message))) return refusal
  await new Promise<unknown>(resolve => client.refreshSlotsCache(resolve))
  return new Error('the slot is served by another node')
}
