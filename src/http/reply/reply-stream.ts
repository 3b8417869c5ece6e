import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Maximum size of an answer that is sent as one piece with Content-Length, bytes. */
const maximumHeld = 1024 * 1024

type Chunk = string | Uint8Array

/**
 * Answers 200 with `chunks`: with Content-Length if they are small, else as a stream with back pressure. A failure before the first
 * byte gets a normal error answer. A later failure cuts the connection, because a truncated answer must not look complete.
 *
 * @throws any error that `chunks` throws
 */
export async function replyStream(
  request: FastifyRequest,
  reply: FastifyReply,
  headers: Readonly<Record<string, string>>,
  chunks: AsyncIterable<Chunk>,
): Promise<FastifyReply> {
  const iterator = chunks[Symbol.asyncIterator]()
  const held: Buffer[] = []
  for (let bytes = 0; bytes <= maximumHeld; ) {
    const next = await iterator.next()
    if (next.done) return reply.headers(headers).send(Buffer.concat(held))
    const chunk = Buffer.from(next.value)
    held.push(chunk)
    bytes += chunk.byteLength
  }
  reply.headers(headers)
  if (request.method === 'HEAD') {
    await iterator.return?.()
    // An empty stream, because Fastify would announce a length of 0 for any other empty body.
    return reply.send(Readable.from([]))
  }
  return reply.send(Readable.from(resumed(held, iterator), { objectMode: false }))
}

async function* resumed(held: Buffer[], iterator: AsyncIterator<Chunk>): AsyncGenerator<Chunk> {
  try {
    yield* held
    held.length = 0
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value
  } finally {
    await iterator.return?.()
  }
}
