import type { FastifyReply } from 'fastify'

/**
 * Answers with JSON text: compact, Content-Length, never empty (contract §6).
 *
 * @param text JSON
 */
export function replyJson(reply: FastifyReply, status: number, text: string): FastifyReply {
  // As bytes: Fastify adds a charset to the Content-Type of JSON strings and objects.
  return reply.code(status).header('content-type', 'application/json').send(Buffer.from(text))
}
