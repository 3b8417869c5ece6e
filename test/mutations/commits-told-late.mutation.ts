import { type Mutation, withRecords } from './mutation.ts'

export const mutation: Mutation = {
  name: 'commits-told-late',
  why: 'Listeners hear of a commit before its append resolves; an event that is put off comes after.',
  mutate: driver =>
    withRecords(driver, {
      onCommit: listener => driver.records.onCommit(commit => setImmediate(() => listener(commit))),
    }),
}
