/**
 * Receives the result of one write. A promise for each step of the write would cost more: the garbage collector would have to
 * move the promises while the write waits for the disk.
 */
export interface Ticket<Result> {
  /** Call either this or `reject`, once. Neither throws. */
  resolve(result: Result): void
  reject(error: unknown): void
}

/** Calls `begin` with a ticket. Returns a promise for the ticket's result, which also rejects if `begin` throws. */
export function promiseOf<Result>(begin: (ticket: Ticket<Result>) => void): Promise<Result> {
  return new Promise((resolve, reject) => begin({ resolve, reject }))
}

export function settle<Result>(ticket: Ticket<Result>, promise: Promise<Result>): undefined {
  promise.then(
    result => ticket.resolve(result),
    (error: unknown) => ticket.reject(error),
  )
}
