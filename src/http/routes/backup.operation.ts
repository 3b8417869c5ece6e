import { z } from 'zod'
import type { Operation } from '../operation/operation.ts'
import { ofAdmin } from '../operation/refusals.ts'

export const backUp: Operation = {
  id: 'backUp',
  group: 'Operator',
  summary: 'Take a consistent copy of the store',
  description:
    'The server goes on. `thingwire restore` reads the copy. Back up a store in Redis with the tools of Redis.',
  credential: 'admin',
  answers: {
    200: {
      description: 'The copy, streamed.',
      content: { 'application/octet-stream': { schema: z.string(), example: 'bytes' } },
      headers: { 'Content-Disposition': 'Name for the file.' },
    },
  },
  refusals: [...ofAdmin, 'not_found'],
}
