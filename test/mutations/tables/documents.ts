import { waitedFor } from '../../../src/conformance/writes.ts'
import type { Document, DriverLocks } from '../../../src/store/contract.ts'
import type { Mutations } from '../mutation.ts'

/** Documents, alone and with the records of a write, and the locks in the name of which they are put. */
export const documentMutations: Mutations = {
  'append-documents-lost': {
    why: 'Documents are put with the records; a driver from before there were any does not look at them.',
    write: ({ documents: _, ...write }) => write,
  },
  'append-documents-of-repeat-lost': {
    why: 'A write that repeats an id still puts its documents; a store that returns early for it leaves them out.',
    records: right => {
      const seen = new Set<string>()
      return {
        append: (write, ticket) => {
          const { documents: _, ...bare } = write
          const name = `${write.thingId} ${write.id}`
          if (write.id !== undefined && seen.has(name)) return right.append(bare, ticket)
          if (!ticket.expired) seen.add(name)
          return right.append(write, ticket)
        },
      }
    },
  },
  'append-documents-put-apart': {
    why: 'Records and documents are one commit; a store that makes two of them shows the one without the other.',
    records: (right, rightDocuments) => ({
      append: async ({ documents = {}, ...write }, ticket) => {
        const receipt = await right.append(write, ticket)
        await rightDocuments.put(documents, 'keep', waitedFor())
        return receipt
      },
    }),
  },
  'documents-lost-update': {
    why: 'Nothing changes documents between reading and putting them; read, then write, loses an update in between.',
    documents: right => ({
      transact: async (names, change) => {
        const read: (Document | undefined)[] = []
        for (const name of names) read.push(await right.get(name))
        const decided = change(read)
        return await right.transact(names, () => decided)
      },
    }),
  },
  'documents-of-expired-kept': {
    why: 'A write that nobody waits for is dropped with its documents; a store that puts these first keeps them.',
    records: (right, rightDocuments) => ({
      append: (write, ticket) => {
        if (ticket.expired) void rightDocuments.put(write.documents ?? {}, 'keep', waitedFor())
        return right.append(write, ticket)
      },
    }),
  },
  'expired-put-kept': {
    why: 'A put that nobody waits for is dropped; a driver that does not look at its ticket keeps it.',
    documents: right => ({ put: (documents, purpose) => right.put(documents, purpose, waitedFor()) }),
  },
  'lock-not-compared': {
    why: 'A store that takes what is done in the name of a lost lock lets a node that was paused undo what another has done.',
    locks: () => notCompared(),
  },
  'put-half-seen': {
    why: 'The documents of a put change as one; a store that puts one after the other shows some of them changed.',
    documents: right => ({
      put: async (documents, purpose, ticket) => {
        for (const [name, document] of Object.entries(documents)) {
          await right.put({ [name]: document }, purpose, ticket)
        }
      },
    }),
  },
  'puts-out-of-order': {
    why: 'Puts take effect in the order of the calls; a queue of their own is overtaken by appends and changes.',
    documents: right => ({
      put: async (documents, purpose, ticket) => {
        await new Promise(resolve => setImmediate(resolve))
        await right.put(documents, purpose, ticket)
      },
    }),
  },
}

function notCompared(): DriverLocks {
  const owners = new Map<string, string>()
  let taken = 0
  return {
    take: (name, ticket, from) => {
      const before = owners.get(name)
      if (from && before !== undefined && before !== from.owner) return void ticket.resolve(undefined)
      const owner = `node:${++taken}`
      owners.set(name, owner)
      ticket.resolve({ name, owner, before })
    },
    release: ({ name, owner }, ticket) => {
      if (owners.get(name) === owner) owners.delete(name)
      ticket.resolve(undefined)
    },
    onLost: () => () => {},
  }
}
