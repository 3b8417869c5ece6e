import type { Nodes } from '../../src/core/nodes.ts'
import { SoleLocks, soleNode } from '../../src/store/open-store.ts'

/** A node that has a store alone and leads every task; its locks are checked by no store. */
export function aloneNode(name = 'node'): Nodes {
  return soleNode(new SoleLocks(name, async () => {}))
}
