import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'log-asked-early',
  why: 'What to log is asked behind every snapshot asked for before the write; asked with the write before, it is lost.',
  mutate: driver =>
    withRecords(driver, {
      logWhen: isWanted => {
        let early: boolean | undefined
        driver.records.logWhen(about => {
          const now = isWanted(about)
          const answer = early ?? now
          early = now
          return answer
        })
      },
    }),
}
