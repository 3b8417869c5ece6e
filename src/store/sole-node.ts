import { randomUUID } from 'node:crypto'
import type { Nodes } from '../core/nodes.ts'

/** This process alone, which leads every task. */
export function soleNode(): Nodes {
  const self = randomUUID()
  return {
    self,
    isAlone: true,
    alive: async () => new Set([self]),
    lead: (_task, work) => {
      const stopping = new AbortController()
      const working = work(stopping.signal)
      return async () => {
        stopping.abort()
        await working
      }
    },
    onDocuments: () => () => {},
    onRefused: () => () => {},
    onGap: () => () => {},
    logBounds: async () => ({
      completeAfter: Number.POSITIVE_INFINITY,
      trimmableTo: Number.POSITIVE_INFINITY,
    }),
    hasLogged: async () => true,
  }
}
