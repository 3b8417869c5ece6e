import { settle } from '../core/async/ticket.ts'
import type { CommitTicket } from './contract.ts'

export { settle } from '../core/async/ticket.ts'

/** How long a caller waits for a commit. */
export type Waiting = Pick<CommitTicket<never>, 'expired' | 'deadline'>

/** The result of a commit as a promise. `begin` is called with a ticket that expires when `waiting` does. */
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

/** A ticket that passes its result to `step`, which settles `ticket`. An error rejects `ticket` immediately: see `CommitTicket`. */
export function behind<Result>(
  ticket: CommitTicket<Result>,
  step: (result: Result) => Promise<Result>,
): CommitTicket<Result> {
  return {
    get expired() {
      return ticket.expired
    },
    deadline: ticket.deadline,
    resolve: result => settle(ticket, step(result)),
    reject: error => ticket.reject(error),
  }
}
