import { ThingwireError } from '../errors.ts'

/** undefined if it was refused for good. @throws ThingwireError if that cannot be determined now */
export async function unlessRefused<Found>(asking: Found | Promise<Found>): Promise<Found | undefined> {
  try {
    return await asking
  } catch (error) {
    if (error instanceof ThingwireError && !error.retryable) return undefined
    throw error
  }
}
