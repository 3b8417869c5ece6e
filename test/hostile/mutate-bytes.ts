import type { Random } from '../helpers/random.ts'

/** What parsers trip over. */
const tokens = [
  ...['\0', '\r', '\n', '\r\n', '\r\n\r\n', ' ', '\t', ':', ',', ';'],
  ...['%', '%00', '%2f', '%zz', '..', '//', '?', '&', '=', '#', '+', '$'],
  ...['{', '}', '[', ']', '"', '\\', '\\u0000', '\\ud800', '__proto__', 'null', 'true'],
  ...['-1', '0', '1e999', '9007199254740993', '18446744073709551616'],
  ...['\xff', '\xc0\x80', '\xed\xa0\x80', '\xef\xbb\xbf'],
  ...['Content-Length: 5\r\n', 'Transfer-Encoding: chunked\r\n', 'Content-Encoding: gzip\r\n'],
  ...['Expect: 100-continue\r\n', 'Connection: Upgrade\r\nUpgrade: websocket\r\n', ' HTTP/1.1\r\n'],
] as const

type Mutation = (bytes: Buffer, random: Random) => Buffer

const mutations: readonly [Mutation, ...Mutation[]] = [
  function flipBit(bytes, random) {
    const place = random.below(bytes.length)
    bytes[place] = (bytes[place] ?? 0) ^ (1 << random.below(8))
    return bytes
  },
  function setByte(bytes, random) {
    bytes[random.below(bytes.length)] = random.below(256)
    return bytes
  },
  function insertToken(bytes, random) {
    return splice(bytes, random.below(bytes.length + 1), 0, Buffer.from(random.pick(tokens), 'latin1'))
  },
  function replaceWithToken(bytes, random) {
    const token = Buffer.from(random.pick(tokens), 'latin1')
    return splice(bytes, random.below(bytes.length + 1), 1 + random.below(8), token)
  },
  function remove(bytes, random) {
    return splice(bytes, random.below(bytes.length), 1 + random.below(16))
  },
  function repeat(bytes, random) {
    const start = random.below(bytes.length)
    const part = bytes.subarray(start, start + 1 + random.below(32))
    const times = 1 + random.below(random.chance(0.05) ? 2_000 : 4)
    return splice(bytes, start, 0, Buffer.concat(Array.from({ length: times }, () => part)))
  },
  function move(bytes, random) {
    const start = random.below(bytes.length)
    const part = Buffer.from(bytes.subarray(start, start + 1 + random.below(32)))
    const rest = splice(bytes, start, part.length)
    return splice(rest, random.below(rest.length + 1), 0, part)
  },
  function cutOff(bytes, random) {
    return bytes.subarray(0, random.below(bytes.length + 1))
  },
]

/** A copy of the bytes with one to four things done to it, mostly one; may be empty. */
export function mutateBytes(bytes: Uint8Array, random: Random): Buffer {
  let mutated = Buffer.from(bytes)
  const times = random.chance(0.6) ? 1 : 2 + random.below(3)
  for (let done = 0; done < times && mutated.length > 0; done++) {
    mutated = Buffer.from(random.pick(mutations)(mutated, random))
  }
  return mutated
}

function splice(
  bytes: Buffer,
  start: number,
  removed: number,
  inserted: Uint8Array = Buffer.alloc(0),
): Buffer {
  return Buffer.concat([bytes.subarray(0, start), inserted, bytes.subarray(start + removed)])
}
