import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { readSlices } from '../../core/async/slices.ts'

/** Number of characters of a long text that are joined before each pause. */
const pieceLength = 64 * 1024

/** Answers with JSON text and Content-Length (contract §6). @param text compact JSON */
export function replyJson(reply: FastifyReply, status: number, text: string): FastifyReply {
  // With a serializer, Fastify adds no charset. The body is a string, not a Buffer, so that Node sends it together with the head.
  return reply.code(status).header('content-type', 'application/json').serializer(asItIs).send(text)
}

const asItIs = (text: string) => text

/** Like `replyJson`, but for long texts: pauses while the text is joined. @param parts mostly shorter than `pieceLength` */
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
