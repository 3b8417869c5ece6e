import { type StoredRecord, storedForm } from '../../../src/core/record/record.ts'
import type { LatestOfThing, Snapshot } from '../../../src/store/contract.ts'
import { type Mutation, type Mutations, observed } from '../mutation.ts'

function byPrefix(name: 'key' | 'thingId'): ReturnType<NonNullable<Mutation['latest']>> {
  return async function* ({ [name]: start = '', ...query }, latest) {
    for await (const page of latest(query)) {
      const selected = page.filter(each => each[name].startsWith(start))
      if (selected.length > 0) yield selected
    }
  }
}

/** Latest records, one by one and in snapshots. */
export const latestMutations: Mutations = {
  'latest-by-arrival': {
    why: 'The latest record is so by its datetime; a cache that each append overwrites gives the last to arrive.',
    records: right => {
      const newest = new Map<string, StoredRecord>()
      right.onCommit(({ thingId, records, stored }) => {
        if (!stored) return
        for (const record of records) newest.set(`${thingId} ${record.key}`, storedForm(record))
      })
      return {
        read: async (thingId, key, query) => {
          const page = await right.read(thingId, key, query)
          const cached = newest.get(`${thingId} ${key}`)
          const { order, limit, from, to, cursor } = query
          const isLatest =
            order === 'desc' && limit === 1 && !cursor && from === undefined && to === undefined
          return page && cached && isLatest ? { ...page, records: [cached] } : page
        },
      }
    },
  },
  'latest-by-key-prefix': {
    why: 'What is latest is selected by the whole key; a scan whose end is not the end of the name finds longer ones.',
    latest: () => byPrefix('key'),
  },
  'latest-by-thing-prefix': {
    why: 'What is latest is selected by the whole thing id; a scan whose end is not the end of the id finds others.',
    latest: () => byPrefix('thingId'),
  },
  'latest-in-one-page': {
    why: 'Pages are bounded, so that a wildcard does not take all memory; a store that collects first has one page.',
    latest: () =>
      async function* (query, latest) {
        const all: LatestOfThing[] = []
        for await (const page of latest(query)) all.push(...page)
        if (all.length > 0) yield all
      },
  },
  'latest-last-to-arrive': {
    why: 'Latest is by datetime; an index that each append overwrites gives the last to arrive.',
    latest: right => {
      const last = new Map<string, StoredRecord>()
      right.onCommit(({ thingId, records, stored }) => {
        if (stored) for (const record of records) last.set(`${thingId} ${record.key}`, storedForm(record))
      })
      return async function* (query, latest) {
        for await (const page of latest(query)) {
          yield page.map(each => ({
            ...each,
            record: last.get(`${each.thingId} ${each.key}`) ?? each.record,
          }))
        }
      }
    },
  },
  'latest-of-emptied': {
    why: 'An emptied resource has nothing that is latest; an index that removals do not reach still has its record.',
    latest: () => {
      const seen = new Map<string, LatestOfThing>()
      return async function* (query, latest) {
        const missing = new Map(seen)
        for await (const page of latest(query)) {
          for (const each of page) {
            const name = `${each.thingId} ${each.key}`
            missing.delete(name)
            if (!each.key.startsWith('$')) seen.set(name, each)
          }
          yield page
        }
        const { thingId, key } = query
        const left = [...missing.values()].filter(
          each => (thingId ?? each.thingId) === each.thingId && (key ?? each.key) === each.key,
        )
        if (left.length > 0) yield left
      }
    },
  },
  'latest-of-magic-history': {
    why: 'A magic resource is there by its state; a store that lists every resource gives its history too.',
    latest: right =>
      async function* (query, latest) {
        yield* latest(query)
        const { thingId, key = '$geo' } = query
        if (thingId === undefined || !key.startsWith('$')) return
        const history = await right.read(thingId, key, { order: 'desc', limit: 1 })
        const [record] = history?.records ?? []
        if (record && !(await right.state(thingId, key))) yield [{ thingId, key, record }]
      },
  },
  'snapshot-number-off': {
    why: 'The number of a snapshot is that of its newest commit, stored or not; one of the newest record is too low.',
    records: right => {
      let newestStored = 0
      right.onCommit(({ stored, writeNumber }) => {
        if (stored) newestStored = writeNumber
      })
      return {
        snapshot: async () => {
          const snapshot = await right.snapshot()
          return {
            writeNumber: newestStored,
            latest: query => snapshot.latest(query),
            close: () => snapshot.close(),
          }
        },
      }
    },
  },
  'snapshot-of-now': {
    why: 'A snapshot stays as it was; one that only remembers its number reads what has come since.',
    latest: right =>
      async function* (query) {
        const now = await right.snapshot()
        yield* now.latest(query)
        await now.close()
      },
  },
  'snapshot-taken-early': {
    why: 'A snapshot sees what was appended before the call; one that does not wait its turn misses what is under way.',
    records: right => {
      const { append, pending } = observed(right)
      let newest: Snapshot | undefined
      return {
        append,
        snapshot: async () => {
          if (newest === undefined || pending.size === 0) newest = await right.snapshot()
          const { writeNumber } = newest
          const latest = newest.latest.bind(newest)
          return { writeNumber, latest, close: async () => {} }
        },
      }
    },
  },
  'snapshot-taken-late': {
    why: 'Nothing that is appended after the call is in a snapshot; one that is taken when the store is idle has it.',
    records: right => {
      const { append, pending } = observed(right)
      return {
        append,
        snapshot: async () => {
          while (pending.size > 0) await Promise.allSettled(pending)
          return await right.snapshot()
        },
      }
    },
  },
}
