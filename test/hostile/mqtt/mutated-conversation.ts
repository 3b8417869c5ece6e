import type { Random } from '../../helpers/random.ts'
import { mutateBytes } from '../mutate-bytes.ts'
import { join, misannounced, packet } from './bytes.ts'
import { conversation } from './conversation.ts'

type Mutation = (packets: Buffer[], random: Random) => Buffer[]
type Spoiling = (bytes: Buffer, random: Random) => Buffer

/** What is done to one packet. */
const spoilings: readonly [Spoiling, ...Spoiling[]] = [
  mutateBytes,
  function flipBitOfStart(bytes, random) {
    const place = random.below(Math.min(bytes.length, 12))
    bytes[place] = (bytes[place] ?? 0) ^ (1 << random.below(8))
    return bytes
  },
  function announceOther(bytes, random) {
    return misannounced(bytes, random.chance(0.5) ? random.below(9) - 4 : random.below(200_000))
  },
  function setLength(bytes, random) {
    const end = Math.max(1, Math.min(2 + random.below(4), bytes.length))
    return bytes.fill(random.pick([0, 0x7f, 0x80, 0xff]), 1, end)
  },
  function spoilText(bytes, random) {
    const text = random.pick(['\0', '\xff', '\xc0\x80', '\xed\xa0\x80', '+', '#', '/', '$', '//'])
    Buffer.from(text, 'latin1').copy(bytes, random.below(bytes.length))
    return bytes
  },
  function otherType(bytes, random) {
    bytes[0] = random.below(256)
    return bytes
  },
  function wrap(bytes) {
    return packet(0x30, bytes)
  },
]

function spoil(packets: Buffer[], random: Random): Buffer[] {
  const place = random.below(packets.length)
  const bytes = Buffer.from(packets[place] ?? [])
  return bytes.length === 0 ? packets : packets.with(place, random.pick(spoilings)(bytes, random))
}

const mutations: readonly [Mutation, ...Mutation[]] = [
  function swap(packets, random) {
    const [one, two] = [random.below(packets.length), random.below(packets.length)]
    const swapped = [packets[two], packets[one]] as [Buffer, Buffer]
    return packets.with(one, swapped[0]).with(two, swapped[1])
  },
  function drop(packets, random) {
    return packets.toSpliced(random.below(packets.length), 1)
  },
  function repeat(packets, random) {
    const place = random.below(packets.length)
    const times = 1 + random.below(random.chance(0.1) ? 300 : 3)
    return packets.toSpliced(place, 0, ...new Array<Buffer>(times).fill(packets[place] ?? Buffer.alloc(0)))
  },
  function insertPacket(packets, random) {
    const content = Buffer.from(Array.from({ length: random.below(20) }, () => random.below(256)))
    return packets.toSpliced(random.below(packets.length + 1), 0, packet(random.below(256), content))
  },
  function interleave(packets, random) {
    const others = conversation(random)
    return packets.flatMap((one, place) => [one, ...others.slice(place, place + 1)])
  },
]

/**
 * What a client that does nothing wrong would send, spoiled at random, with placeholders in the place of its secrets.
 *
 * @returns the pieces in which it is sent
 */
export function mutatedConversation(random: Random): Buffer[] {
  let packets = conversation(random)
  const times = random.chance(0.6) ? 1 : 2 + random.below(3)
  for (let done = 0; done < times && packets.length > 0; done++) {
    packets = (random.chance(0.6) ? spoil : random.pick(mutations))(packets, random)
  }
  return random.chance(0.5) ? packets : cut(join(...packets), random)
}

function cut(bytes: Buffer, random: Random): Buffer[] {
  const pieces: Buffer[] = []
  for (let start = 0; start < bytes.length && pieces.length < 50; ) {
    const end = pieces.length === 49 ? bytes.length : start + 1 + random.below(bytes.length)
    pieces.push(bytes.subarray(start, end))
    start = end
  }
  return pieces
}
