import { gzipSync } from 'node:zlib'
import { Random } from '../../helpers/random.ts'
import { mutateBytes } from '../mutate-bytes.ts'
import { mutateJson } from '../mutate-json.ts'
import { bytesOfParts, head, type Target } from './case.ts'
import { goodBodies, goodRequests } from './corpus.ts'

/** The input at a place of the row that a seed gives: a good request in which something is spoiled. */
export function mutatedRequest(seed: number, place: number, target: Target): Buffer {
  const random = new Random(seed, place)
  return random.pick([anywhere, inItsTarget, inItsBody])(random, target)
}

function anywhere(random: Random, target: Target): Buffer {
  return mutateBytes(bytesOfParts(random.pick(goodRequests), target), random)
}

/** What may not stand in a request line is percent-encoded, so that it comes further than the parser. */
function inItsTarget(random: Random, target: Target): Buffer {
  const request = bytesOfParts(random.pick(goodRequests), target)
  const start = request.indexOf(' ') + 1
  const end = request.indexOf(' ', start)
  const mutated = mutateBytes(request.subarray(start, end), random)
  const readable = [...mutated].map(byte =>
    byte > 0x20 && byte < 0x7f ? String.fromCharCode(byte) : encoded(byte),
  )
  return Buffer.concat([request.subarray(0, start), Buffer.from(readable.join('')), request.subarray(end)])
}

function inItsBody(random: Random, target: Target): Buffer {
  const body = mutatedBody(random)
  const encoding = random.chance(0.2) ? ['Content-Encoding: gzip'] : []
  const packed = encoding.length > 0 ? gzipSync(body) : body
  const sent = random.chance(0.2) ? mutateBytes(packed, random) : packed
  const line = `POST /v2/things/<token>${random.chance(0.3) ? '?partial=true' : ''} HTTP/1.1`
  return bytesOfParts([head(line, 'Host: a', ...encoding, `Content-Length: ${sent.length}`), sent], target)
}

function mutatedBody(random: Random): Buffer {
  const body = random.pick(goodBodies)
  if (random.chance(0.3)) return mutateBytes(Buffer.from(JSON.stringify(body)), random)
  return Buffer.from(JSON.stringify(mutateJson(body, random)))
}

function encoded(byte: number): string {
  return `%${byte.toString(16).padStart(2, '0')}`
}
