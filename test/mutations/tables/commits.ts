import type { Commit } from '../../../src/store/contract.ts'
import type { Mutations } from '../mutation.ts'

/** Commits: what listeners get of them, and the states that they put. */
export const commitMutations: Mutations = {
  'caught-up-early': {
    why: 'Whoever has caught up has got all that was appended before; one that does not wait looks in vain for what is under way.',
    records: right => {
      let newest = 0
      right.onCommit(({ writeNumber }) => {
        newest = writeNumber
      })
      return { catchUp: async () => newest }
    },
  },
  'commits-notified-late': {
    why: 'Listeners hear of a commit before its append resolves; an event that is put off comes after.',
    records: right => ({
      onCommit: listener => right.onCommit(commit => setImmediate(() => listener(commit))),
    }),
  },
  'commits-notified-out-of-order': {
    why: 'Listeners hear commits in commit order; a group that is notified from its end turns them round.',
    records: right => ({
      onCommit: listener => {
        let group: Commit[] = []
        return right.onCommit(commit => {
          group.push(commit)
          if (group.length > 1) return
          queueMicrotask(() => {
            const reversed = group.toReversed()
            group = []
            for (const each of reversed) listener(each)
          })
        })
      },
    }),
  },
  'late-commit-quiet': {
    why: 'A write that commits after its ticket has expired is broadcast as it was sent; a store may think that nobody expects it.',
    records: right => {
      let isLate = () => false
      return {
        append: (write, waiting) => {
          isLate = () => waiting.expired
          return right.append(write, waiting)
        },
        onCommit: listener =>
          right.onCommit((commit: Commit) => listener(isLate() ? { ...commit, broadcast: false } : commit)),
      }
    },
  },
  'state-by-datetime': {
    why: 'A state is what was put last; a store that takes it for a record keeps the one with the newest datetime.',
    records: right => {
      const newest = new Map<string, number>()
      return {
        append: (write, ticket) => {
          const states = write.states?.filter(({ key, record }) => {
            const name = `${write.thingId} ${key}`
            if (!record) return newest.delete(name) || true
            if (record.datetime < (newest.get(name) ?? 0)) return false
            newest.set(name, record.datetime)
            return true
          })
          return right.append(states ? { ...write, states } : write, ticket)
        },
      }
    },
  },
  'state-with-extras': {
    why: 'Listeners get a state as it was kept; a store that passes the object on gives them more than it keeps.',
    records: right => {
      let sent: Commit['latest'] = []
      return {
        append: (write, ticket) => {
          sent = write.states ?? []
          return right.append(write, ticket)
        },
        onCommit: listener =>
          right.onCommit(commit =>
            listener(commit.latest.length === 1 && sent.length === 1 ? { ...commit, latest: sent } : commit),
          ),
      }
    },
  },
  'states-of-repeat-kept': {
    why: 'A write that repeats an id has no effect; a store that checks the id for its records only puts its states.',
    records: right => ({
      append: async (write, ticket) => {
        const receipt = await right.append(write, ticket)
        if (receipt.writeNumber > 0 || !write.states) return receipt
        const { documents: _, id: __, ...states } = write
        await right.append({ ...states, records: [] }, ticket)
        return receipt
      },
    }),
  },
  'states-of-unstored-kept': {
    why: 'A write that is not to be stored changes no state; a store that looks at its records alone keeps them.',
    records: right => ({
      append: async (write, ticket) => {
        const receipt = await right.append(write, ticket)
        const { states = [], store } = write
        if (store || states.length === 0) return receipt
        const { documents: _, id: __, ...kept } = write
        await right.append({ ...kept, records: [], store: true }, ticket)
        return receipt
      },
    }),
  },
  'states-passed-on-not-kept': {
    why: 'The states of a commit are kept with it; a store that only passes them on to listeners forgets them.',
    write: write => {
      const store = write.store && (write.records.length > 0 || write.states === undefined)
      return { ...write, store }
    },
  },
}
