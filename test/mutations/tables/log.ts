import { storedForm } from '../../../src/core/record/record.ts'
import type { Commit } from '../../../src/store/contract.ts'
import { everything, type Mutations } from '../mutation.ts'

/** The log of commits. */
export const logMutations: Mutations = {
  'log-as-stored': {
    why: 'The log gives commits as listeners got them; one that is read back from what is stored has lost the spelling.',
    records: right => ({
      readLog: async query =>
        (await right.readLog(query)).map(commit => ({
          ...commit,
          records: commit.records.map(record => {
            const { place, explicit } = record
            return { ...storedForm(record), place, explicit }
          }),
        })),
    }),
  },
  'log-asked-early': {
    why: 'What to log is asked behind every snapshot asked for before the write; asked with the write before, it is lost.',
    records: right => ({
      logWhen: isWanted => {
        let early: boolean | undefined
        right.logWhen(about => {
          const now = isWanted(about)
          const answer = early ?? now
          early = now
          return answer
        })
      },
    }),
  },
  'log-asked-once': {
    why: 'What to log is asked for each write; a store that remembers the answer for a thing loses what is wanted later.',
    records: right => ({
      logWhen: isWanted => {
        const answers = new Map<string, boolean>()
        right.logWhen(about => {
          const answer = answers.get(about.thingId) ?? isWanted(about)
          answers.set(about.thingId, answer)
          return answer
        })
      },
    }),
  },
  'log-bounds-inclusive': {
    why: 'The log is read after a commit; an inclusive bound gives that commit again with every page.',
    records: right => ({
      readLog: query => right.readLog({ ...query, after: query.after - 1 }),
    }),
  },
  'log-of-every-thing': {
    why: 'The log is read for a few things; a store that gives the commits of others has its readers pass over them.',
    records: right => ({ readLog: ({ isOf: _, ...query }) => right.readLog(query) }),
  },
  'log-of-removed-thing-kept': {
    why: 'A thing is removed with its part of the log; what is left there would be sent of a thing that is gone.',
    records: right => {
      const kept: Commit[] = []
      return {
        removeThing: async thingId => {
          const all = await right.readLog({ after: 0, before: Infinity, order: 'asc', limit: everything })
          kept.push(...all.filter(commit => commit.thingId === thingId))
          await right.removeThing(thingId)
        },
        readLog: async query => [...kept, ...(await right.readLog(query))],
      }
    },
  },
  'log-of-unstored': {
    why: 'What is not stored is not in the log; a log that listens to the commits has it too.',
    records: right => {
      const unstored: Commit[] = []
      right.onCommit(commit => {
        if (!commit.stored) unstored.push(commit)
      })
      return {
        readLog: async query => [...(await right.readLog(query)), ...unstored].slice(0, query.limit),
      }
    },
  },
  'log-page-unbounded': {
    why: 'A page of the log ends where its text is long; one that counts entries alone can be of any size.',
    records: right => ({
      readLog: async query => {
        const all: Commit[] = []
        let { after, before } = query
        for (;;) {
          const page = await right.readLog({ ...query, after, before })
          all.push(...page)
          const last = page.at(-1)?.writeNumber
          if (last === undefined || all.length >= query.limit) return all.slice(0, query.limit)
          if (query.order === 'asc') after = last
          else before = last
        }
      },
    }),
  },
  'log-trimmed-up-to': {
    why: 'A trim takes the commits that it names; one up to the newest of them takes what others still need.',
    records: right => ({
      trimLog: async writeNumbers => {
        const before = Math.max(0, ...writeNumbers) + 1
        const older = await right.readLog({ after: 0, before, order: 'asc', limit: everything })
        await right.trimLog(older.map(({ writeNumber }) => writeNumber))
      },
    }),
  },
  'log-without-states': {
    why: 'The log holds the whole commit; one that keeps records alone cannot send a state again.',
    records: right => ({
      readLog: async query => (await right.readLog(query)).map(commit => ({ ...commit, latest: [] })),
    }),
  },
}
