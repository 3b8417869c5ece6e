import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type StoringPeer, startStoringPeer } from './storing-peer.ts'

/** mosquitto and a subscriber of QoS 1 that stores in SQLite, 1,000 messages or 100 ms a commit. */
export async function startMosquittoSqlite(parent: string): Promise<StoringPeer> {
  const directory = await mkdtemp(join(parent, 'sqlite-'))
  const peer = await startStoringPeer({
    program: 'sqlite-subscriber.py',
    place: join(directory, 'records.sqlite'),
  })
  const stop = async () => {
    await peer.stop()
    await rm(directory, { recursive: true })
  }
  return { ...peer, stop }
}
