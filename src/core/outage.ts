import { ThingwireError } from '../errors.ts'
import { LockLost } from './locks.ts'

/** Whether the store may succeed at a retry. */
export function isOutage(error: unknown): error is ThingwireError {
  return error instanceof ThingwireError && error.retryable && !(error instanceof LockLost)
}
