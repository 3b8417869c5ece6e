import type { Random } from '../../helpers/random.ts'
import { mutateBytes } from '../../hostile/mutate-bytes.ts'
import { mutateJson } from '../../hostile/mutate-json.ts'
import type { Sample } from '../samples.ts'

export interface Packet {
  readonly topic: string
  readonly payload: Buffer
  /** Of a webhook, which has no topic. */
  readonly post?: Readonly<Record<string, unknown>> | undefined
}

export function packetsOf({ messages }: Sample): readonly Packet[] {
  return messages.map(({ topic = '', payload, post }) => ({
    topic,
    payload: Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload)),
    post,
  }))
}

/** A copy of a packet with its payload, and seldom its topic, spoiled. @param other a packet of the same format */
export function mutatePacket({ topic, payload, post }: Packet, other: Packet, random: Random): Packet {
  const isOfTopic = topic !== '' && random.chance(0.1)
  return {
    topic: isOfTopic ? mutateBytes(Buffer.from(topic), random).toString() : topic,
    payload: mutatePayload(payload, other.payload, random),
    post,
  }
}

function mutatePayload(payload: Buffer, other: Buffer, random: Random): Buffer {
  const way = random.below(10)
  const json = way < 4 ? parsed(payload) : undefined
  if (json !== undefined) return Buffer.from(JSON.stringify(mutateJson(json, random)))
  if (way === 4) return swollen(payload, random)
  if (way > 5) return mutateBytes(payload, random)
  const begin = payload.subarray(0, random.below(payload.length + 1))
  return Buffer.concat([begin, other.subarray(random.below(other.length + 1))])
}

/**
 * Begins somewhere in the payload to nest, or to repeat its next characters; now and then more often than a parser that calls itself, or
 * that goes back, can bear.
 */
function swollen(payload: Buffer, random: Random): Buffer {
  const place = random.chance(0.3) ? 0 : random.below(payload.length + 1)
  const next = payload.toString('latin1', place, place + 1 + random.below(3))
  const [opener, closer] = random.pick([
    [next, ''],
    [next, ''],
    ['[', ']'],
    ['{"a":', '}'],
    ['[{"__proto__":', '}]'],
  ])
  const times = random.chance(0.05) ? 10_000 : random.below(50)
  const begin = Buffer.from(opener.repeat(times), 'latin1')
  const end = Buffer.from(closer.repeat(times))
  return Buffer.concat([payload.subarray(0, place), begin, payload.subarray(place), end])
}

export function parsed(payload: Buffer): unknown {
  try {
    return JSON.parse(payload.toString())
  } catch {
    return undefined
  }
}
