import { z } from 'zod'
import { json, type Operation } from '../operation/operation.ts'
import { ref } from '../operation/parameters.ts'
import { ofBody, ofThing } from '../operation/refusals.ts'
import { minted, mintedExample, sessionTerms } from '../operation/session.ts'

export const thingSessionBody = z.strictObject(
  sessionTerms,
  'the body must be a JSON object {"access","expiresIn"?}',
)

export const createThingSession: Operation = {
  id: 'createThingSession',
  group: 'Credentials',
  summary: 'Mint a session for one thing',
  description:
    'The request needs the token of the thing, or the admin key. The session lasts for `expiresIn` (default one day, at most ' +
    '30 days) and ends with the token that minted it. A thing has at most 100 live sessions.',
  credential: 'thing',
  parameters: [ref],
  body: { schema: thingSessionBody, example: { access: 'read', expiresIn: 3600 } },
  answers: {
    201: json('The token is shown only once.', z.object({ status: z.literal('created'), ...minted }), {
      status: 'created',
      ...mintedExample,
    }),
  },
  refusals: [...ofThing, ...ofBody, 'too_many_sessions'],
}
