import { post } from '../load/wrk.ts'
import { startBareFastify } from '../peers/bare-fastify.ts'
import { host, type Peer } from '../peers/peer.ts'
import { startProduct } from '../peers/product.ts'
import type { Contestant, Session } from './comparison.ts'
import { phases } from './mqtt-contestants.ts'
import { tokenOf } from './mqtt-sides.ts'
import { settled, watch } from './usage.ts'

type StartHttpPeer = (session: Session) => Promise<Peer>

export const startProductPeer: StartHttpPeer = session => startProduct(session)
export const startFastifyPeer: StartHttpPeer = () => startBareFastify()

/** As many as it takes to give either side about all that it can do: with 64 the product waits for the load a sixth of the time. */
const connections = 128

/** Values a second that are answered with 201. */
export function posting(
  start: StartHttpPeer,
  { body, valuesPerWrite = 1 }: { readonly body: string; readonly valuesPerWrite?: number },
): (session: Session) => Promise<Contestant> {
  return async session => {
    const peer = await start(session)
    const path = `/v2/things/${tokenOf(session.filled, 0)}`
    const url = `http://${host}:${peer.httpPort ?? peer.port}${path}`
    const posts = { url, connections, body, expectedStatus: 201 }
    return {
      turn: async () => {
        const { result, cores } = await watch(peer, marks => post(posts, phases(session), marks))
        await settled(peer)
        return { figure: (result.done * valuesPerWrite) / result.seconds, cores }
      },
      peer,
      stop: () => peer.stop(),
    }
  }
}
