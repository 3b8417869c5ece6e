import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { HttpThings } from '../http-things.ts'
import type { Operation } from '../operation/operation.ts'
import { ofAdmin } from '../operation/refusals.ts'
import { replyStream } from '../reply/reply-stream.ts'

export const backUp: Operation = {
  id: 'backUp',
  group: 'Operator',
  summary: 'Take a consistent copy of the store',
  description:
    'The server keeps serving. `thingwire restore` reads the copy. Back up a store in Redis with the tools of Redis.',
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

/** `POST /v2/admin/backup`: a consistent copy of the embedded store. */
export function backupRoute(scope: FastifyInstance, things: HttpThings): void {
  scope.post('/backup', { config: { operation: backUp } }, async (request, reply) => {
    const takenAt = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '')
    const headers = {
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="thingwire-${takenAt}.backup"`,
    }
    return await replyStream(request, reply, headers, things.backup())
  })
}
