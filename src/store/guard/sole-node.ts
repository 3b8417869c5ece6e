import type { Nodes } from '../../core/nodes.ts'
import type { SoleLocks } from './sole-locks.ts'

/** This process alone, which leads every task. */
export function soleNode(locks: SoleLocks): Nodes {
  const { node: self } = locks
  return {
    self,
    isAlone: true,
    alive: async () => new Set([self]),
    lead: (task, work) => {
      const stopping = new AbortController()
      const working = work(stopping.signal, locks.begin(`task/${task}`))
      return async () => {
        stopping.abort()
        await working
      }
    },
    onDocuments: () => () => {},
    onRefused: () => () => {},
    send: () => {},
    listen: async () => () => {},
    onGap: () => () => {},
    logBounds: async () => ({
      completeAfter: Number.POSITIVE_INFINITY,
      trimmableTo: Number.POSITIVE_INFINITY,
    }),
    hasLogged: async () => true,
  }
}
