import type { StoredRecord } from '../../../src/core/record/record.ts'
import { everything, type Mutations } from '../mutation.ts'

const cut = (thingId: string) => thingId.slice(0, 15)

/** Pages of records, and what things, keys and ties they are of. */
export const readMutations: Mutations = {
  'cursor-by-datetime': {
    why: 'A page follows the one before without a gap; a cursor of the datetime alone skips the rest of its ties.',
    records: right => ({
      read: async (thingId, key, { cursor, ...query }) => {
        const from = query.order === 'asc' && cursor !== undefined ? { from: Number(cursor) + 1 } : {}
        const to = query.order === 'desc' && cursor !== undefined ? { to: Number(cursor) } : {}
        const page = await right.read(thingId, key, { ...query, ...from, ...to })
        if (page?.next === undefined) return page
        return { ...page, next: String(page.records.at(-1)?.datetime) }
      },
    }),
  },
  'cursor-is-offset': {
    why: 'A page follows the one before whatever is appended; an offset repeats a record when one comes in before it.',
    records: right => ({
      read: async (thingId, key, { cursor, ...query }) => {
        const offset = cursor === undefined ? 0 : Number(cursor)
        const page = await right.read(thingId, key, { ...query, limit: offset + query.limit })
        if (page === undefined) return undefined
        const records = page.records.slice(offset)
        return page.next === undefined ? { records } : { records, next: String(offset + query.limit) }
      },
    }),
  },
  'cursor-of-emptied-taken': {
    why: 'A cursor that was never given out is refused; a store that has nothing to look for takes any.',
    records: right => ({
      read: async (thingId, key, query) => {
        const { cursor: _, ...anyCursor } = query
        const page = await right.read(thingId, key, anyCursor)
        return page?.records.length === 0 ? page : await right.read(thingId, key, query)
      },
    }),
  },
  'cursor-of-unknown-key': {
    why: 'A key that was never written is unknown whatever the cursor; a store that looks at the cursor first answers otherwise.',
    records: right => ({
      read: async (thingId, key, query) => {
        const page = await right.read(thingId, key, query)
        if (page === undefined && query.cursor !== undefined) return { records: [] }
        return page
      },
    }),
  },
  'cursor-repeats': {
    why: 'A page follows the one before without repeat; `gte` for `gt` at the cursor gives its record again.',
    records: right => {
      const lastOf = new Map<string, StoredRecord>()
      return {
        read: async (thingId, key, query) => {
          const page = await right.read(thingId, key, query)
          const last = page?.records.at(-1)
          if (page?.next !== undefined && last) lastOf.set(page.next, last)
          const repeated = query.cursor === undefined ? undefined : lastOf.get(query.cursor)
          return page && repeated ? { ...page, records: [repeated, ...page.records] } : page
        },
      }
    },
  },
  'empty-range-unknown': {
    why: 'A range without records is an empty page; a store that only looks at what it found calls the key unknown.',
    page: page => (page.records.length === 0 ? undefined : page),
  },
  'from-exclusive': {
    why: 'The start of a range is inclusive; `gt` for `gte` leaves out the record that stands on it.',
    records: right => ({
      read: (thingId, key, query) =>
        right.read(thingId, key, query.from === undefined ? query : { ...query, from: query.from + 1 }),
    }),
  },
  'key-prefix-leaks': {
    why: 'Keys share nothing; a scan from a key without its terminator runs into `a.b` when asked for `a`.',
    records: right => ({
      read: async (thingId, key, query) => {
        const keys = (await right.resources(thingId)).filter(other => other.startsWith(key))
        if (keys.length < 2 || query.cursor !== undefined) return await right.read(thingId, key, query)
        const all = { ...query, limit: everything }
        const pages = await Promise.all(keys.map(other => right.read(thingId, other, all)))
        const records = pages.flatMap(page => page?.records ?? []).toSorted((a, b) => a.datetime - b.datetime)
        if (query.order === 'desc') records.reverse()
        return { records: records.slice(0, query.limit) }
      },
    }),
  },
  'late-records-moved': {
    why: 'A late record takes its place by datetime; a log that only grows at its end puts it behind the newest.',
    records: right => {
      const newest = new Map<string, number>()
      return {
        append: (write, ticket) => {
          const records = write.records.map(record => {
            if (record.datetime === undefined) return record
            const resource = `${write.thingId} ${record.key}`
            const datetime = Math.max(record.datetime, newest.get(resource) ?? 0)
            newest.set(resource, datetime)
            return { ...record, datetime }
          })
          return right.append({ ...write, records }, ticket)
        },
      }
    },
  },
  'things-listed-twice': {
    why: 'A page of things begins behind the last one of the page before; one that begins with it never ends.',
    records: right => ({
      things: async ({ after, limit }) => {
        const all = await right.things({ limit: Number.MAX_SAFE_INTEGER })
        return all.filter(thingId => after === undefined || thingId >= after).slice(0, limit)
      },
    }),
  },
  'things-share-prefix': {
    why: 'Things share nothing; a key with room for 15 characters of the id makes two of them one.',
    records: right => ({
      append: (write, ticket) => right.append({ ...write, thingId: cut(write.thingId) }, ticket),
      read: (thingId, ...query) => right.read(cut(thingId), ...query),
      resources: thingId => right.resources(cut(thingId)),
      remove: (thingId, ...range) => right.remove(cut(thingId), ...range),
      removeThing: thingId => right.removeThing(cut(thingId)),
      answerOf: (thingId, ...id) => right.answerOf(cut(thingId), ...id),
    }),
  },
  'ties-by-place-as-text': {
    why: 'Records of one write and datetime stand in their places; places kept as text put 10 before 2.',
    write: write => {
      const sorted = write.records.toSorted((a, b) => (String(a.place) < String(b.place) ? -1 : 1))
      const records = sorted.map((record, place) => ({ ...record, place }))
      return { ...write, records }
    },
  },
  'ties-newest-first': {
    why: 'Records of one datetime stand in the order of their writes; a key that counts down turns them round.',
    page: page => {
      const ties = new Map<number, StoredRecord[]>()
      for (const record of page.records) {
        ties.set(record.datetime, [record, ...(ties.get(record.datetime) ?? [])])
      }
      return { ...page, records: [...ties.values()].flat() }
    },
  },
  'to-inclusive': {
    why: 'The end of a range is exclusive; `lte` for `lt` takes in the record that stands on it.',
    records: right => ({
      read: (thingId, key, query) =>
        right.read(thingId, key, query.to === undefined ? query : { ...query, to: query.to + 1 }),
    }),
  },
}
