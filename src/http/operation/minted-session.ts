import { z } from 'zod'
import { datetime, thingToken } from './shapes.ts'

/** What the answer to every request for a session says. */
export const minted = { sessionToken: thingToken, sessionId: z.string(), expiresAt: datetime }

export const mintedExample = {
  sessionToken: 'c29tZXRoaW5nLXRoYXQtaXMtbm8tcmVhbC10b2tlbi4',
  sessionId: '5e8d2f0a91c47b3628',
  expiresAt: '2026-11-21T10:30:00.000Z',
}
