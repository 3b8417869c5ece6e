import type { StoredRecord } from '../../../src/core/record/record.ts'
import { ThingwireError } from '../../../src/errors.ts'
import type { Commit } from '../../../src/store/contract.ts'
import { everything, type Mutations, observed } from '../mutation.ts'

/** Removals, the age of records, and the maximum of resources. */
export const removalMutations: Mutations = {
  'old-inclusive': {
    why: 'What was measured at the datetime from which on records are kept is kept.',
    records: right => ({
      removeOld: (thingId, key, before, from) => right.removeOld(thingId, key, before + 1, from),
    }),
  },
  'old-of-silent-kept': {
    why: 'Of a resource of which all is old all but the newest record goes; a store that looks at the newest first may leave all of it.',
    records: right => ({
      removeOld: async (thingId, key, before, from) => {
        const page = await right.read(thingId, key, { order: 'desc', limit: 1 })
        const isSilent = (page?.records[0]?.datetime ?? before) < before
        return isSilent ? { count: 0 } : await right.removeOld(thingId, key, before, from)
      },
    }),
  },
  'old-takes-newest': {
    why: 'The newest record of a resource stays however old it is; a store that removes by datetime alone empties what fell silent.',
    records: right => ({
      removeOld: async (thingId, key, before) => ({
        count: await right.remove(thingId, key, { to: before }),
      }),
    }),
  },
  'removal-always-notified': {
    why: 'A removal that leaves the newest record notifies nobody; one that always does repeats what is known.',
    records: right => {
      const listeners = new Set<(commit: Commit) => void>()
      return {
        onCommit: listener => {
          listeners.add(listener)
          const stop = right.onCommit(listener)
          return () => {
            listeners.delete(listener)
            stop()
          }
        },
        remove: async (thingId, key, range) => {
          let isNotified = false
          const stop = right.onCommit(() => {
            isNotified = true
          })
          const removed = await right.remove(thingId, key, range)
          stop()
          if (isNotified || removed === 0) return removed
          const page = await right.read(thingId, key, { order: 'desc', limit: 1 })
          const latest = [{ key, record: page?.records[0] }]
          const commit = { thingId, writeNumber: 1, receivedAt: 1, records: [], latest }
          for (const listener of listeners) listener({ ...commit, stored: true, broadcast: true })
          return removed
        },
      }
    },
  },
  'removal-takes-newer': {
    why: 'What is appended while a removal runs stays; a removal that starts late takes it too.',
    records: right => {
      const { append, pending } = observed(right)
      return {
        append,
        remove: async (thingId, key, range) => {
          await new Promise(resolve => setImmediate(resolve))
          await Promise.allSettled(pending)
          return await right.remove(thingId, key, range)
        },
      }
    },
  },
  'removal-to-inclusive': {
    why: 'The end of a removed range is exclusive; one millisecond more removes a record nobody named.',
    records: right => ({
      remove: (thingId, key, range) =>
        right.remove(thingId, key, range.to === undefined ? range : { ...range, to: range.to + 1 }),
    }),
  },
  'removal-notified-early': {
    why: 'What a removal notifies of is latest at its place among the commits; one that reads ahead misses what comes between.',
    records: right => {
      const left = new Map<string, StoredRecord | undefined>()
      return {
        remove: async (thingId, key, range) => {
          const page = await right.read(thingId, key, { order: 'desc', limit: everything })
          const { from = 0, to = Number.POSITIVE_INFINITY } = range
          const rest = page?.records.find(({ datetime }) => datetime < from || datetime >= to)
          left.set(`${thingId} ${key}`, rest)
          return await right.remove(thingId, key, range)
        },
        onCommit: listener =>
          right.onCommit(commit => {
            const latest = commit.latest.map(({ key, record }) => {
              const name = `${commit.thingId} ${key}`
              return { key, record: left.has(name) ? left.get(name) : record }
            })
            listener({ ...commit, latest })
          }),
      }
    },
  },
  'removal-not-notified': {
    why: 'Listeners learn what is latest after a removal; a store that only deletes leaves them with what is gone.',
    records: right => ({
      onCommit: listener =>
        right.onCommit(commit => {
          const isRemoval =
            commit.records.length === 0 && commit.latest.some(({ key }) => !key.startsWith('$'))
          if (!isRemoval) listener(commit)
        }),
    }),
  },
  'removed-key-listed': {
    why: 'A key that holds no record is not listed; an index that only grows lists it for ever.',
    records: right => {
      const seen = new Map<string, Set<string>>()
      return {
        append: async (write, ticket) => {
          const receipt = await right.append(write, ticket)
          const keys = seen.get(write.thingId) ?? new Set()
          if (write.store) for (const { key } of write.records) keys.add(key)
          seen.set(write.thingId, keys)
          return receipt
        },
        resources: async thingId => [...(seen.get(thingId) ?? [])].sort(),
        removeThing: async thingId => {
          seen.delete(thingId)
          await right.removeThing(thingId)
        },
      }
    },
  },
  'removed-thing-notified': {
    why: 'Nobody is notified of a thing that is removed; one that removes resource by resource notifies of each.',
    records: right => ({
      removeThing: async thingId => {
        for (const key of await right.resources(thingId)) {
          await right.remove(thingId, key, {})
        }
        await right.removeThing(thingId)
      },
    }),
  },
  'resources-counted-early': {
    why: 'The count holds among writes in flight; looked up before the write waits for its commit, it is out of date.',
    records: right => ({
      append: async ({ maximumResources = Number.POSITIVE_INFINITY, ...write }, ticket) => {
        const present = await right.resources(write.thingId)
        const added = new Set(write.records.flatMap(({ key }) => (present.includes(key) ? [] : [key])))
        const isRepeat =
          write.id !== undefined && (await right.answerOf(write.thingId, write.id, Date.now())) !== undefined
        if (write.store && !isRepeat && added.size > 0 && present.length + added.size > maximumResources) {
          throw new ThingwireError('too_many_resources')
        }
        return await right.append(write, ticket)
      },
    }),
  },
  'resources-full-for-all': {
    why: 'A thing at its maximum writes on to what it has; a store that only compares the count shuts it out.',
    records: right => ({
      append: async (write, ticket) => {
        const { thingId, maximumResources = Number.POSITIVE_INFINITY } = write
        const present = await right.resources(thingId)
        if (write.store && present.length >= maximumResources) throw new ThingwireError('too_many_resources')
        return await right.append(write, ticket)
      },
    }),
  },
  'resources-never-freed': {
    why: 'A resource that is emptied frees its place; a counter that only grows never gives it back.',
    records: right => {
      const removed = new Map<string, number>()
      return {
        append: ({ maximumResources = Number.POSITIVE_INFINITY, ...write }, ticket) => {
          const taken = removed.get(write.thingId) ?? 0
          return right.append({ ...write, maximumResources: maximumResources - taken }, ticket)
        },
        remove: async (thingId, key, range) => {
          const count = await right.remove(thingId, key, range)
          if (count > 0) removed.set(thingId, (removed.get(thingId) ?? 0) + 1)
          return count
        },
      }
    },
  },
  'resources-taken-while-they-fit': {
    why: 'A write is refused whole; a store that counts record by record keeps those before the one too many.',
    records: right => ({
      append: async (write, ticket) => {
        try {
          return await right.append(write, ticket)
        } catch (error) {
          const [first] = write.records
          const isFull = error instanceof Error && 'reason' in error && error.reason === 'too_many_resources'
          if (isFull && first && write.records.length > 1) {
            await right.append({ ...write, records: [first] }, ticket).catch(() => {})
          }
          throw error
        }
      },
    }),
  },
  'resources-unlimited': {
    why: 'A thing has no more resources than it may; a store that does not look at the maximum lets any key in.',
    write: ({ maximumResources: _, ...write }) => write,
  },
  'states-of-removed-thing-kept': {
    why: 'A thing is removed with its states; a store that goes by the names of resources does not find them.',
    records: right => {
      const kept = new Map<string, StoredRecord | undefined>()
      return {
        removeThing: async thingId => {
          for (const key of ['$geo', '$settings']) {
            kept.set(`${thingId} ${key}`, await right.state(thingId, key))
          }
          await right.removeThing(thingId)
        },
        state: async (thingId, key) => (await right.state(thingId, key)) ?? kept.get(`${thingId} ${key}`),
      }
    },
  },
}
