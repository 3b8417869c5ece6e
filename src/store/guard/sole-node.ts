import type { Nodes } from '../../core/nodes.ts'
import type { SoleHolds } from './sole-holds.ts'

/** This process alone, which leads every task. */
export function soleNode(holds: SoleHolds): Nodes {
  const { node: self } = holds
  return {
    self,
    isAlone: true,
    alive: async () => new Set([self]),
    lead: (task, work) => {
      const stopping = new AbortController()
      const working = work(stopping.signal, holds.begin(`task/${task}`))
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
