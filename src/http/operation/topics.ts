import { z } from 'zod'

/** Topics beside those of things that a session or a thing may use; the core judges the filters. */
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
