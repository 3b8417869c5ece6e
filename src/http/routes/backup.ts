import type { FastifyInstance } from 'fastify'
import type { HttpThings } from '../http-things.ts'
import { replyStream } from '../reply/reply-stream.ts'
import { backUp } from './backup.operation.ts'

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
