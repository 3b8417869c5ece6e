import { waitedFor } from '../../../src/conformance/writes.ts'
import { measurement } from '../../../src/core/record/record.ts'
import type { Commit, Receipt } from '../../../src/store/contract.ts'
import { everything, type Mutations } from '../mutation.ts'

const rounded = (degrees: number) => Math.round(degrees * 1e7) / 1e7

const throughUtf8 = (_: string, value: unknown) =>
  typeof value === 'string' ? Buffer.from(value).toString() : value

/** White space before the opening bracket hides from `measurement` that the text is an object. */
const raw = (value: string) => (/^[[{]/.test(value) ? ` ${value}` : value)

/** Writes: their values, their ids and how often they are sent. */
export const writeMutations: Mutations = {
  'differing-values-collapsed': {
    why: 'Two values of one datetime are both kept; a primary key of thing, key and datetime keeps one.',
    records: right => {
      const taken = new Set<string>()
      return {
        append: (write, ticket) => {
          const records = write.records.map(record => {
            const point = `${write.thingId} ${record.key} ${record.datetime}`
            const first = record.datetime === undefined || !taken.has(point)
            if (record.datetime !== undefined) taken.add(point)
            // As good as not stored: it is where no reader looks.
            return first ? record : { ...record, key: `${record.key}.collapsed` }
          })
          return right.append({ ...write, records }, ticket)
        },
      }
    },
  },
  'expired-write-kept': {
    why: 'A write that nobody waits for is dropped; a driver that does not look at its ticket keeps it.',
    records: right => ({
      append: write => right.append(write, waitedFor()),
    }),
  },
  'geo-rounded': {
    why: 'A position comes back as it was sent; degrees kept in ten-millionths do not.',
    record: ({ geo, ...record }) =>
      geo ? { ...record, geo: { lat: rounded(geo.lat), long: rounded(geo.long) } } : record,
  },
  'half-a-write-kept': {
    why: 'A write is kept whole; a store that acknowledges after the first of two batches keeps half of it.',
    write: write => {
      const records = write.records.slice(0, Math.ceil(write.records.length / 2))
      return { ...write, records }
    },
  },
  'half-a-write-seen': {
    why: 'A read never sees part of a write; a write of two batches shows the first before the second is there.',
    records: right => ({
      append: async (write, ticket) => {
        const half = Math.ceil(write.records.length / 2)
        if (half === write.records.length) return await right.append(write, ticket)
        const { id: _, ...rest } = write
        await right.append({ ...rest, records: write.records.slice(0, half) }, ticket)
        return await right.append({ ...write, records: write.records.slice(half) }, ticket)
      },
    }),
  },
  'lone-surrogates-lost': {
    why: 'Values come back to the letter; text that passes through UTF-8 loses what UTF-8 cannot hold.',
    record: record => ({ ...record, value: JSON.stringify(JSON.parse(record.value), throughUtf8) }),
  },
  'numbers-as-float32': {
    why: 'Values come back to the letter; a column of single precision rounds what it can not hold.',
    record: record => {
      const value: unknown = JSON.parse(record.value)
      const fits = typeof value === 'number' && Math.abs(value) <= 3.4e38
      return fits ? { ...record, value: JSON.stringify(Math.fround(value)) } : record
    },
  },
  'resend-by-member-order': {
    why: 'Objects are equal whatever the order of their members; comparing their JSON text keeps both.',
    record: record => ({ ...record, value: raw(record.value) }),
    page: page => ({
      ...page,
      records: page.records.map(record => ({ ...record, value: record.value.trimStart() })),
    }),
  },
  'resend-stored-twice': {
    why: 'A resent record is stored once; a store without the check keeps every copy.',
    record: record => ({ ...record, explicit: false }),
  },
  'resend-takes-new-place': {
    why: 'A resent record keeps its first place; an upsert by content moves it behind its ties.',
    records: right => ({
      append: async (write, ticket) => {
        for (const record of write.store ? write.records : []) {
          const { datetime, explicit } = record
          if (!explicit) continue
          const tie = { from: datetime, to: datetime + 1 }
          const query = { ...tie, order: 'asc', limit: everything } as const
          const stored = (await right.read(write.thingId, record.key, query))?.records ?? []
          const others = stored.filter(other => measurement(other) !== measurement(record))
          if (others.length === stored.length) continue
          await right.remove(write.thingId, record.key, tie)
          if (others.length === 0) continue
          const records = others.map((other, place) => ({ ...other, place, explicit }))
          const { id: _, ...rest } = write
          await right.append({ ...rest, records }, ticket)
        }
        return await right.append(write, ticket)
      },
    }),
  },
  'resend-notified-again': {
    why: 'A resent record is not broadcast again; a store that announces the write, not what it stored, repeats it.',
    records: right => {
      const listeners = new Set<(commit: Commit) => void>()
      const receiptTimes = new Map<number, number>()
      right.onCommit(({ writeNumber, receivedAt }) => receiptTimes.set(writeNumber, receivedAt))
      return {
        append: async (write, ticket) => {
          const receipt = await right.append(write, ticket)
          const { thingId, records, broadcast, store: stored, states: latest = [] } = write
          const { writeNumber } = receipt
          if (writeNumber === 0) return receipt
          const receivedAt = receiptTimes.get(writeNumber) ?? 0
          for (const listener of listeners) {
            listener({ thingId, writeNumber, receivedAt, records, latest, stored, broadcast })
          }
          return receipt
        },
        onCommit: listener => {
          listeners.add(listener)
          return () => listeners.delete(listener)
        },
      }
    },
  },
  'write-id-answer-lost': {
    why: 'A repeat gets the answer of the first write; a store that keeps the bare id answers as if all was taken.',
    records: right => ({
      append: async (write, ticket) => {
        const receipt = await right.append(write, ticket)
        return receipt.writeNumber === 0 ? { writeNumber: 0, answer: {} } : receipt
      },
    }),
  },
  'write-id-forgotten': {
    why: 'A repeated write id has no effect; a store that does not keep it takes the write again.',
    write: ({ id: _, ...write }) => write,
  },
  'write-id-kept-for-ever': {
    why: 'The last 1,000 write ids of 24 hours count, no others; ids that are never forgotten swallow new writes.',
    records: right => {
      const taken = new Map<string, Receipt>()
      return {
        append: async (write, ticket) => {
          const name = `${write.thingId} ${write.id}`
          const first = write.id === undefined ? undefined : taken.get(name)
          if (first) return { writeNumber: 0, answer: first.answer }
          const receipt = await right.append(write, ticket)
          taken.set(name, receipt)
          return receipt
        },
        removeThing: async thingId => {
          for (const name of taken.keys()) if (name.startsWith(`${thingId} `)) taken.delete(name)
          await right.removeThing(thingId)
        },
      }
    },
  },
  'write-id-of-unstored-forgotten': {
    why: 'A write id counts with `store` false too; a store that returns early for such a write loses it.',
    write: write => {
      const { id: _, ...withoutId } = write
      return write.store ? write : withoutId
    },
  },
}
