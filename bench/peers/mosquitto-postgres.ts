import { startPostgres } from './postgres.ts'
import { type StoringPeer, startStoringPeer } from './storing-peer.ts'

/** mosquitto and a subscriber of QoS 1 that stores in PostgreSQL, an INSERT a message. */
export async function startMosquittoPostgres(parent: string): Promise<StoringPeer> {
  const postgres = await startPostgres(parent)
  const { connectionString: place } = postgres
  const peer = await startStoringPeer({ program: 'postgres-subscriber.py', place }).catch(async error => {
    await postgres.stop()
    throw error
  })
  const stop = async () => {
    await peer.stop()
    await postgres.stop()
  }
  return { ...peer, processes: { ...peer.processes, postgres: postgres.processId }, stop }
}
