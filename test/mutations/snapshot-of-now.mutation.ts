import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'snapshot-of-now',
  why: 'A snapshot stays as it was; one that only remembers its number reads what has come since.',
  mutate: driver =>
    withRecords(driver, {
      snapshot: async () => {
        const snapshot = await driver.records.snapshot()
        return {
          ...snapshot,
          writeNumber: snapshot.writeNumber,
          close: () => snapshot.close(),
          async *latest(query) {
            const now = await driver.records.snapshot()
            yield* now.latest(query)
            await now.close()
          },
        }
      },
    }),
}
