/**
 * Who waits for what comes of one write. In place of a promise, which every step on the way would put into one of its own, for
 * the collector to move about while the write waits for its sync.
 */
export interface Ticket<Result> {
  /** This or `reject` is to be called once; neither throws. */
  resolve(result: Result): void
  reject(error: unknown): void
}

/** What comes of it, as a promise. Rejects with what `begin` throws. */
export function promiseOf<Result>(begin: (ticket: Ticket<Result>) => void): Promise<Result> {
  return new Promise((resolve, reject) => begin({ resolve, reject }))
}

/** Settles the ticket as the promise does. */
export function settle<Result>(ticket: Ticket<Result>, promise: Promise<Result>): undefined {
  promise.then(
    result => ticket.resolve(result),
    (error: unknown) => ticket.reject(error),
  )
}
