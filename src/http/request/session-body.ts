import { z } from 'zod'

const wholeSeconds = 'must be a whole number of seconds, at least 1'

/** What every request for a session says; `expiresIn` is whole seconds, as in OAuth (RFC 6749, 4.2.2). */
export const sessionTerms = {
  access: z.enum(['read', 'write'], 'must be "read" or "write"'),
  expiresIn: z.int(wholeSeconds).min(1, wholeSeconds).optional(),
}

/** The terms without what was not said. */
export function termsOf({ access, expiresIn }: z.output<z.ZodObject<typeof sessionTerms>>) {
  return expiresIn === undefined ? { access } : { access, expiresIn }
}
