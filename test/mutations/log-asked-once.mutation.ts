import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'log-asked-once',
  why: 'What to log is asked for each write; a store that remembers the answer for a thing loses what is wanted later.',
  mutate: driver =>
    withRecords(driver, {
      logWhen: isWanted => {
        const answers = new Map<string, boolean>()
        driver.records.logWhen(about => {
          const answer = answers.get(about.thingId) ?? isWanted(about)
          answers.set(about.thingId, answer)
          return answer
        })
      },
    }),
}
