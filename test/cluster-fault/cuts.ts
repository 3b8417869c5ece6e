import { setTimeout as delay } from 'node:timers/promises'
import type { TcpPath } from '../helpers/tcp-path.ts'
import { connectUntil, slowestConnack, wrongConnacks } from './connects.ts'
import { untilDone } from './participant.ts'
import type { Fault } from './rounds.ts'
import { seconds } from './words.ts'

/** Milliseconds. */
const away = 10_000
/** Within which a node serves again, and CONNECTs are answered, milliseconds (issue 6; contract §7). */
const promised = 5_000

/** The connections of a node to Redis are reset, and so are new ones. */
export const refuseNode = cut('a node is refused by Redis for 10 s', path => path.refuse())

/** What is sent between a node and Redis goes nowhere, and no connection is closed. */
export const isolateNode = cut('a node cannot reach Redis for 10 s', path => path.swallow())

function cut(name: string, begin: (path: TcpPath) => void): Fault {
  return {
    name,
    async happen({ service, watchers, steady }) {
      const { path, server } = service.member(1)
      const losses = watchers.losses
      begin(path)
      const over = performance.now() + away
      const connecting = connectUntil(over, server, steady.things)
      await delay(away)
      path.restore()
      const back = performance.now()
      await untilDone(async () => {
        const { status } = await fetch(`${server.url}/readyz`)
        if (status !== 200) throw new Error(`the node that was cut is not ready: ${status}`)
      })
      const readyAfter = performance.now() - back
      const connacks = await connecting
      const slow = slowestConnack(connacks)
      // Of those of the other node nobody may be closed; `check` looks at what all of them were told.
      return {
        violations: wrongConnacks(connacks, over),
        overdue: [
          ...(slow > promised ? [`a CONNECT was answered after ${seconds(slow)}`] : []),
          ...(readyAfter > promised ? [`ready again after ${seconds(readyAfter)}`] : []),
        ],
        notes: [
          `${connacks.length} CONNECTs meanwhile, each answered within ${seconds(slow)}`,
          `ready after ${seconds(readyAfter)}`,
          `${watchers.losses - losses} live subscribers were closed`,
        ],
      }
    },
  }
}
