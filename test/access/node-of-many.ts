import { onTestFinished } from 'vitest'
import type { Revocation } from '../../src/access/access.ts'
import { type AccessServices, createAccess } from '../../src/access/index.ts'
import type { Lock } from '../../src/core/locks.ts'
import type { Nodes } from '../../src/core/nodes.ts'
import { sourceRules } from '../../src/formats/registry.ts'
import type { Store, StoreDriver } from '../../src/store/contract.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { openStore } from '../../src/store/open-store.ts'
import { aloneNode } from '../helpers/alone-node.ts'
import { adminKey } from './open-access.ts'

export interface NodeOfMany extends AccessServices {
  /** Tells it what other nodes have put or removed; undefined: it has missed some. */
  tell(names: readonly string[] | undefined): void
  /** Whether the others hold it for alive; or they cannot be asked. */
  health: 'alive' | 'dead' | 'unknown'
  /** Has it lead its tasks, until the returned function is called. */
  lead(): () => Promise<void>
}

/** Access as one of several nodes has it on their store, which leads nothing and is told nothing but by the test. */
export async function openNodeOfMany(store: Store, name = 'node'): Promise<NodeOfMany> {
  const sole = aloneNode(name)
  const listeners = new Set<Parameters<Nodes['onDocuments']>[0]>()
  const tasks: ((stop: AbortSignal, lock: Lock) => Promise<void>)[] = []
  const { isAlone: _, ...rest } = sole
  const nodes: Nodes = {
    ...rest,
    alive: async () => {
      if (node.health === 'unknown') throw new Error('nobody can be asked')
      return node.health === 'alive' ? await sole.alive() : new Set()
    },
    lead: (_task, work) => {
      tasks.push(work)
      return async () => {}
    },
    onDocuments: listener => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
  const services = await createAccess({
    ...store,
    nodes,
    adminKey,
    allowThingDelete: false,
    rules: sourceRules,
  })
  onTestFinished(() => services.close())
  const node: NodeOfMany = {
    ...services,
    health: 'alive',
    tell: names => {
      for (const listener of listeners) listener(names)
    },
    lead: () => {
      const ends = tasks.map(work => sole.lead('', work))
      return async () => {
        await Promise.all(ends.map(end => end()))
      }
    },
  }
  return node
}

/** Two nodes on one store; `put` has the names that were put since it was emptied. */
export async function openNodes(intercept: (driver: StoreDriver) => StoreDriver = driver => driver) {
  const memory = createMemoryStore()
  const put: string[] = []
  const transact: typeof memory.documents.transact = (names, change) =>
    memory.documents.transact(names, found => {
      const outcome = change(found)
      put.push(...Object.keys(outcome.put))
      return outcome
    })
  const store = await openStore(intercept({ ...memory, documents: { ...memory.documents, transact } }))
  onTestFinished(() => store.close())
  const [here, there] = [await openNodeOfMany(store, 'here'), await openNodeOfMany(store, 'there')]
  const told: Revocation[] = []
  here.access.onRevoke(revocation => told.push(revocation))
  /** What the other node does, of which this one is told afterwards. */
  const elsewhere = async (action: () => Promise<unknown>) => {
    put.length = 0
    await action()
    here.tell([...put])
  }
  return { store, here, there, told, elsewhere }
}
