import { ThingwireError } from '../errors.ts'

/** The result of `asking`; undefined if it was refused for good. @throws ThingwireError (retryable) if the store is unavailable */
export async function unlessRefused<Found>(asking: Found | Promise<Found>): Promise<Found | undefined> {
  return await orRefusal(asking).then(found => (found instanceof ThingwireError ? undefined : found))
}

/** Like `unlessRefused`, but returns the refusal instead of undefined. */
export async function orRefusal<Found>(asking: Found | Promise<Found>): Promise<Found | ThingwireError> {
  try {
    return await asking
  } catch (error) {
    if (error instanceof ThingwireError && !error.retryable) return error
    throw error
  }
}
