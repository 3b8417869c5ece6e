import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'removal-untold',
  why: 'Listeners learn what is latest after a removal; a store that only deletes leaves them with what is gone.',
  mutate: driver =>
    withRecords(driver, {
      onCommit: listener =>
        driver.records.onCommit(commit => {
          const isRemoval =
            commit.records.length === 0 && commit.latest.some(({ key }) => !key.startsWith('$'))
          if (!isRemoval) listener(commit)
        }),
    }),
}
