import { z } from 'zod'
import { json, type Operation } from '../operation/operation.ts'
import { endDate, key, ref, startDate } from '../operation/parameters.ts'
import { ofThing } from '../operation/refusals.ts'
import { success } from '../operation/shapes.ts'

export const deleteRecords: Operation = {
  id: 'deleteRecords',
  group: 'Resources',
  summary: 'Delete records of a resource',
  description:
    'Without a range all records are deleted, and the state of a magic resource. The request needs the admin key or a write ' +
    'session of the operator; with `allowThingDelete` the token of the thing is enough.',
  credential: 'thing',
  parameters: [ref, key, startDate, endDate],
  answers: {
    200: json('Number of deleted records.', z.object({ ...success.shape, deleted: z.int().min(0) }), {
      status: 'success',
      deleted: 12,
    }),
  },
  refusals: [...ofThing, 'invalid_range', 'unknown_resource'],
}
