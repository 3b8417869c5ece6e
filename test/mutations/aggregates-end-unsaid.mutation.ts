import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'aggregates-end-unsaid',
  why: 'An answer that ends early says where the rest begins; without that it is taken for the whole.',
  mutate: driver =>
    withRecords(driver, {
      aggregate: async (...query) => {
        const answer = await driver.records.aggregate(...query)
        return answer && { buckets: answer.buckets }
      },
    }),
}
