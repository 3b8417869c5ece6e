/**
 * Receives the result of one write. Used instead of a chain of promises, one for each step, because the garbage collector would
 * have to move the promises while the write waits for its sync.
 */
export interface Ticket<Result> {
  /** Call this or `reject` once; neither throws. */
  resolve(result: Result): void
  reject(error: unknown): void
}

/** Returns a promise for the result of the ticket that `begin` gets. The promise also rejects if `begin` throws. */
export function promiseOf<Result>(begin: (ticket: Ticket<Result>) => void): Promise<Result> {
  return new Promise((resolve, reject) => begin({ resolve, reject }))
}

export function settle<Result>(ticket: Ticket<Result>, promise: Promise<Result>): undefined {
  promise.then(
    result => ticket.resolve(result),
    (error: unknown) => ticket.reject(error),
  )
}
