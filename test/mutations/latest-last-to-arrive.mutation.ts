import type { StoredRecord } from '../../src/core/record/record.ts'
import { storedForm } from '../../src/core/record/record.ts'
import type { Mutation } from './mutation.ts'
import { withLatest } from './with-snapshot.ts'

export const mutation: Mutation = {
  name: 'latest-last-to-arrive',
  why: 'Latest is by datetime; an index that each append overwrites gives the last to arrive.',
  mutate: driver => {
    const last = new Map<string, StoredRecord>()
    driver.records.onCommit(({ thingId, records, stored }) => {
      if (stored) for (const record of records) last.set(`${thingId} ${record.key}`, storedForm(record))
    })
    return withLatest(driver, async function* (query, right) {
      for await (const page of right(query)) {
        yield page.map(each => ({ ...each, record: last.get(`${each.thingId} ${each.key}`) ?? each.record }))
      }
    })
  },
}
