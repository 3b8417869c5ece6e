import { writeMqtt } from '../load/mqtt-writers.ts'
import type { StoringPeer } from '../peers/storing-peer.ts'
import type { Contestant, Session, Turn } from './comparison.ts'
import { ofOneThing } from './mqtt-contestants.ts'
import { coresBetween, timesOf } from './usage.ts'

export interface StoringSetup {
  readonly payload: string
  /** Messages to be stored for each second of a stretch: about as many as are stored in one. */
  readonly messages: number
}

/** Seconds that it may take to publish them. */
const deadline = 60

/**
 * Rows a second of a relay and a subscriber that stores: from the first publish until the last row is committed.
 * mosquitto acks a publish before anything is stored, so its acks say nothing; it queues what is not stored yet.
 */
export function storing(
  start: (parent: string) => Promise<StoringPeer>,
  { payload, messages }: StoringSetup,
): (session: Session) => Promise<Contestant> {
  return async session => {
    const peer = await start(session.directory)
    const writes = { ...ofOneThing(session, peer.port), payload }
    return {
      turn: async () => {
        await drain(session.warmUp)
        return await drain(session.seconds)
      },
      stop: () => peer.stop(),
    }

    async function drain(seconds: number): Promise<Turn> {
      const storedBefore = peer.stored()
      const timesBefore = timesOf(peer)
      let begin = performance.now()
      const onBegin = () => {
        begin = performance.now()
      }
      const result = await writeMqtt(
        writes,
        { warmUp: 0, measured: deadline, acks: messages * seconds },
        { onBegin, onEnd: () => {} },
      )
      await peer.untilStored(storedBefore + result.total)
      const elapsed = (performance.now() - begin) / 1_000
      const cores = coresBetween(timesBefore, timesOf(peer), elapsed)
      return { figure: result.total / elapsed, cores, note: `${result.total.toLocaleString('en')} rows` }
    }
  }
}
