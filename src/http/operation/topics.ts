import { z } from 'zod'

/** Topics, other than Thingwire's own, that are granted to a session or a thing; the core checks the filters. */
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
