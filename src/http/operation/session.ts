import { z } from 'zod'
import { datetime, thingToken } from './shapes.ts'

const wholeSeconds = 'must be a whole number of seconds, at least 1'

/** Members of every request for a session. `expiresIn` is in whole seconds, like `expires_in` in RFC 6749, 4.2.2. */
export const sessionTerms = {
  access: z.enum(['read', 'write'], 'must be "read" or "write"'),
  expiresIn: z.int(wholeSeconds).min(1, wholeSeconds).optional(),
}

/** Members of every answer with a new session. */
export const minted = { sessionToken: thingToken, sessionId: z.string(), expiresAt: datetime }

export const mintedExample = {
  sessionToken: 'c29tZXRoaW5nLXRoYXQtaXMtbm8tcmVhbC10b2tlbi4',
  sessionId: '5e8d2f0a91c47b3628',
  expiresAt: '2026-11-21T10:30:00.000Z',
}
