import type { CommitTicket } from './contract.ts'

export { settle } from '../core/async/ticket.ts'

/** How long something is waited for. */
export type Waiting = Pick<CommitTicket<never>, 'expired' | 'deadline'>

/** What comes of a commit, as a promise, whose own ticket is waited for as long as `waiting`. */
export function promised<Result>(
  waiting: Waiting,
  begin: (ticket: CommitTicket<Result>) => void,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    begin({
      get expired() {
        return waiting.expired
      },
      deadline: waiting.deadline,
      resolve,
      reject,
    })
  })
}
