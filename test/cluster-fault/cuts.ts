import { setTimeout as delay } from 'node:timers/promises'
import type { TcpPath } from '../helpers/tcp-path.ts'
import type { Fault } from './rounds.ts'

/** Milliseconds. */
const away = 10_000

/** The connections of a node to Redis are reset, and so are new ones. */
export const refuseNode = cut('a node is refused by Redis for 10 s', path => path.refuse())

/** What is sent between a node and Redis goes nowhere, and no connection is closed. */
export const isolateNode = cut('a node cannot reach Redis for 10 s', path => path.swallow())

function cut(name: string, begin: (path: TcpPath) => void): Fault {
  return {
    name,
    async happen({ service, watchers }) {
      const { path } = service.member(1)
      const losses = watchers.losses
      begin(path)
      await delay(away)
      path.restore()
      // Of those of the other node nobody may be closed; `check` looks at what all of them were told.
      return { violations: [], notes: [`${watchers.losses - losses} live subscribers were closed`] }
    },
  }
}
