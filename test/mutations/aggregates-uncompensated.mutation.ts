import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'aggregates-uncompensated',
  why: 'A sum does not show how many numbers it is of; what each addition rounds away is forgotten.',
  mutate: driver =>
    withRecords(driver, {
      aggregate: async (...query) => {
        const answer = await driver.records.aggregate(...query)
        return answer && { ...answer, buckets: answer.buckets.map(each => ({ ...each, compensation: 0 })) }
      },
    }),
}
