import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { readSlices } from '../../core/async/slices.ts'

/** Characters of a long text that are put together between two looks at the clock. */
const pieceLength = 64 * 1024

/**
 * Answers with JSON text: compact, Content-Length, never empty (contract §6).
 *
 * @param text JSON
 */
export function replyJson(reply: FastifyReply, status: number, text: string): FastifyReply {
  // With a serializer of its own, since Fastify adds a charset to the Content-Type otherwise; as text, which Node joins to the head.
  return reply.code(status).header('content-type', 'application/json').serializer(asItIs).send(text)
}

const asItIs = (text: string) => text

/** The same of a text that may have megabytes, in slices. @param parts of the text, of less than `pieceLength` each mostly */
export async function replyLongJson(reply: FastifyReply, parts: Iterable<string>): Promise<FastifyReply> {
  const pieces: Buffer[] = []
  let text = ''
  for (const part of parts) {
    text += part
    if (text.length < pieceLength) continue
    await readSlices.pause()
    pieces.push(Buffer.from(text))
    text = ''
  }
  if (pieces.length === 0) return replyJson(reply, 200, text)
  pieces.push(Buffer.from(text))
  const length = pieces.reduce((sum, { byteLength }) => sum + byteLength, 0)
  reply.code(200).headers({ 'content-type': 'application/json', 'content-length': length })
  return reply.send(Readable.from(pieces, { objectMode: false }))
}
