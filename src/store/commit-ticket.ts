import { settle } from '../core/async/ticket.ts'
import type { CommitTicket } from './contract.ts'

export { settle } from '../core/async/ticket.ts'

/** How long a caller waits for a commit. */
export type Waiting = Pick<CommitTicket<never>, 'expired' | 'deadline'>

/** The result of a commit as a promise. `begin` gets a ticket that expires with `waiting`. */
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

/** A ticket that resolves after `step`. It rejects at once, so that later calls of the lock are given up before they are committed. */
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
