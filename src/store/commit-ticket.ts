import { settle } from '../core/async/ticket.ts'
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

/**
 * A ticket that is resolved behind another step. A failure is reported at once: what is handed in before it is heard, is to be
 * given up before it is committed, and promises in between would take too long.
 */
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
