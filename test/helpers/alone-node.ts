import type { Nodes } from '../../src/core/nodes.ts'
import { SoleHolds } from '../../src/store/guard/sole-holds.ts'
import { soleNode } from '../../src/store/guard/sole-node.ts'

/** A node that has a store alone and leads every task; its holds are checked by no store. */
export function aloneNode(name = 'node'): Nodes {
  return soleNode(new SoleHolds(name, async () => {}))
}
