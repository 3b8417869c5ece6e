import { ThingwireError } from '../errors.ts'
import { LockLost } from './locks.ts'

/** Whether the store failed in such a way that a retry may succeed. */
export function isOutage(error: unknown): error is ThingwireError {
  return error instanceof ThingwireError && error.retryable && !(error instanceof LockLost)
}
