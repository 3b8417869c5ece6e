import { z } from 'zod'

/** Grants for topics other than Thingwire's, for a session or a thing. The core checks the filters. */
export const topicGrants = z.array(
  z.strictObject(
    {
      filter: z.string('must be a string'),
      access: z.enum(['read', 'write'], 'must be "read" or "write"'),
    },
    'must be an object {"filter","access"}',
  ),
  'must be an array of {"filter","access"}',
)
