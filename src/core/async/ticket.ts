/**
 * Receives the result of one write. It replaces a chain of promises, one for each step, which the garbage collector would have to
 * move while the write waits for its sync.
 */
export interface Ticket<Result> {
  /** Call this or `reject` once; neither throws. */
  resolve(result: Result): void
  reject(error: unknown): void
}

/** A promise for the result of a ticket. Rejects with errors of `begin`. */
export function promiseOf<Result>(begin: (ticket: Ticket<Result>) => void): Promise<Result> {
  return new Promise((resolve, reject) => begin({ resolve, reject }))
}

export function settle<Result>(ticket: Ticket<Result>, promise: Promise<Result>): undefined {
  promise.then(
    result => ticket.resolve(result),
    (error: unknown) => ticket.reject(error),
  )
}
