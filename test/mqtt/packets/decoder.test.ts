import fc from 'fast-check'
import {
  generate,
  type IConnectPacket,
  type IPublishPacket,
  type Packet as OtherPacket,
  parser,
} from 'mqtt-packet'
import { describe, expect, it } from 'vitest'
import { messageIdOf, splitPackets } from '../../../src/mqtt/host/broker-link.ts'
import { Decoder } from '../../../src/mqtt/packets/decoder.ts'
import { MalformedPacket, type Packet } from '../../../src/mqtt/packets/packet.ts'
import { hostileCases } from '../../hostile/mqtt/cases/index.ts'

const connectPacket: IConnectPacket = {
  cmd: 'connect',
  protocolId: 'MQTT',
  protocolVersion: 4,
  clientId: 'peer',
  clean: true,
  keepalive: 60,
  username: 'device',
  password: Buffer.from('secret'),
  will: { topic: 'gone', payload: Buffer.from('for good'), qos: 1, retain: true },
}

const messageId = fc.integer({ min: 1, max: 65_535 })
const qos = fc.constantFrom(0 as const, 1 as const, 2 as const)
const topic = fc.constantFrom('things/t/write', 'things/t/writ', 'things/t/writes', 'things/u/write', 'ä')
const filter = fc.constantFrom('#', 'things/+/values/#', 'a/b', 'ä')

const publish = fc
  .record({
    topic,
    payload: fc.oneof(
      fc.uint8Array({ maxLength: 30 }),
      // Around the lengths at which the header grows by a byte (MQTT-2.2.3).
      fc.constantFrom(100, 110, 120, 130, 16_360, 16_390).map(length => new Uint8Array(length)),
    ),
    qos,
    messageId,
    retain: fc.boolean(),
    dup: fc.boolean(),
  })
  .map(({ payload, dup, ...rest }): IPublishPacket => {
    return { cmd: 'publish', ...rest, payload: Buffer.from(payload), dup: dup && rest.qos > 0 }
  })

/** What a client may send behind CONNECT. */
const packets: fc.Arbitrary<OtherPacket> = fc.oneof(
  { weight: 4, arbitrary: publish },
  {
    weight: 1,
    arbitrary: fc.record({
      cmd: fc.constantFrom('puback' as const, 'pubrec' as const, 'pubrel' as const, 'pubcomp' as const),
      messageId,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      cmd: fc.constant('subscribe' as const),
      messageId,
      subscriptions: fc.array(fc.record({ topic: filter, qos }), { minLength: 1, maxLength: 4 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      cmd: fc.constant('unsubscribe' as const),
      messageId,
      unsubscriptions: fc.array(filter, { minLength: 1, maxLength: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ cmd: fc.constantFrom('pingreq' as const, 'disconnect' as const) }) },
)

const longest = 100_000
/** Contract §7. */
const maxPacketSize = 1024 * 1024
const connect = generate(connectPacket)

/** What a decoder makes of bytes that come in pieces, or why it refuses them. */
function decode(pieces: readonly Buffer[], mayTake = () => true, size = longest) {
  const decoder = new Decoder(size)
  const taken: Packet[] = []
  const raw: Buffer[] = []
  let refusal: string | undefined
  const take = (packet: Packet) => {
    taken.push(packet)
    raw.push(decoder.raw)
  }
  try {
    for (const piece of pieces) {
      for (let rest = piece; rest.length > 0; ) rest = decoder.read(rest, { mayTake, take })
    }
  } catch (error) {
    if (!(error instanceof MalformedPacket)) throw error
    refusal = error.message
  }
  return {
    taken,
    texts: taken.map(packet => textOf(packet)),
    raw: Buffer.concat(raw),
    refusal,
    unfinished: decoder.unfinishedBytes,
  }
}

/** Text of a packet: comparing byte by byte takes the time of a thousand packets. @param names the members that count */
function textOf(packet: Packet | OtherPacket, names: readonly string[] = Object.keys(packet)): string {
  const members = names.map(name => {
    const value: unknown = Reflect.get(packet, name)
    return [name, Buffer.isBuffer(value) ? value.toString('latin1') : value]
  })
  return JSON.stringify(members)
}

/** Members of a CONNECT that the other implementation does not have. */
const inOurWords = new Set(['startsClean', 'sessionExpiry', 'refusal'])

/** The same packets as the other implementation has made, in the words of both. */
function inWordsOfBoth(taken: readonly Packet[], others: readonly OtherPacket[]) {
  return taken.map((packet, place) => {
    const names = Object.keys(packet).filter(
      name => !inOurWords.has(name) && (name !== 'messageId' || packet.cmd !== 'publish' || packet.qos > 0),
    )
    const other = others[place]
    return [textOf(packet, names), other && textOf(other, names)]
  })
}

/** What mqtt-packet makes of bytes. */
function decodedByOther(bytes: Buffer): OtherPacket[] {
  const other = parser({ protocolVersion: 4 })
  const taken: OtherPacket[] = []
  other.on('packet', packet => taken.push(packet))
  other.on('error', () => {})
  other.parse(bytes)
  return taken
}

/** Cuts bytes at places. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...places.map(place => place % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
}

const cuts = fc.array(fc.nat(100_000), { maxLength: 8 })

describe('Decoder', () => {
  it('reads what another implementation reads', () => {
    fc.assert(
      fc.property(fc.array(packets, { maxLength: 5 }), sent => {
        const bytes = Buffer.concat([connect, ...sent.map(packet => generate(packet))])
        const { taken, raw, refusal, unfinished } = decode([bytes])
        expect({ refusal, unfinished }).toEqual({ refusal: undefined, unfinished: undefined })
        expect(raw.equals(bytes)).toBe(true)
        const other = decodedByOther(bytes)
        expect(taken).toHaveLength(other.length)
        for (const [ours, others] of inWordsOfBoth(taken, other)) expect(ours).toBe(others)
      }),
      { numRuns: 300 },
    )
  })

  it('reads the same however the bytes are cut', () => {
    fc.assert(
      fc.property(fc.array(packets, { maxLength: 5 }), cuts, (sent, places) => {
        const bytes = Buffer.concat([connect, ...sent.map(packet => generate(packet))])
        const whole = decode([bytes])
        const pieces = decode(cut(bytes, places))
        expect(pieces.raw.equals(whole.raw)).toBe(true)
        expect([pieces.texts, pieces.refusal, pieces.unfinished]).toEqual([whole.texts, undefined, undefined])
      }),
      { numRuns: 300 },
    )
  })

  it('refuses any bytes in the same words however they are cut, behind the same packets', () => {
    const changed = fc.record({ place: fc.nat(200), byte: fc.nat(255) })
    fc.assert(
      fc.property(
        fc.array(packets, { minLength: 1, maxLength: 3 }),
        fc.array(changed),
        cuts,
        (sent, changes, places) => {
          const bytes = Buffer.concat([connect, ...sent.map(packet => generate(packet))])
          for (const { place, byte } of changes) bytes[place % bytes.length] = byte
          const whole = decode([bytes])
          const pieces = decode(cut(bytes, places))
          expect(pieces.refusal).toBe(whole.refusal)
          expect(pieces.texts).toEqual(whole.texts)
        },
      ),
      { numRuns: 1_000 },
    )
  })

  it('never reads anything that another implementation reads otherwise', () => {
    fc.assert(
      fc.property(packets, fc.nat(200), fc.nat(255), (sent, place, byte) => {
        const bytes = generate(sent)
        bytes[place % bytes.length] = byte
        const { taken } = decode([Buffer.concat([connect, bytes])])
        const other = decodedByOther(Buffer.concat([connect, bytes]))
        for (const [ours, others] of inWordsOfBoth(taken, other)) expect(ours).toBe(others)
      }),
      { numRuns: 1_000 },
    )
  })

  it('takes no more packets than it may, and gives the rest back untouched', () => {
    const bytes = Buffer.concat([connect, generate({ cmd: 'pingreq' }), generate({ cmd: 'pingreq' })])
    const decoder = new Decoder(longest)
    const taken: string[] = []
    const take = ({ cmd }: Packet) => taken.push(cmd)
    const rest = decoder.read(bytes, { mayTake: () => taken.length < 2, take })
    expect(taken).toEqual(['connect', 'pingreq'])
    expect(rest).toEqual(bytes.subarray(-2))
  })

  it('copies no payload', () => {
    const publish = { cmd: 'publish', topic: 'a', payload: 'x', qos: 0, dup: false, retain: false } as const
    const bytes = Buffer.concat([connect, generate(publish), generate({ ...publish, payload: 'y' })])
    const payloads: Buffer[] = []
    const take = (packet: Packet) => packet.cmd === 'publish' && payloads.push(packet.payload)
    new Decoder(longest).read(bytes, { mayTake: () => true, take })
    expect(payloads.map(({ buffer }) => buffer === bytes.buffer)).toEqual([true, true])
  })

  it('judges a length as soon as it is announced', () => {
    const announced = Buffer.from([0x30, 0xa1, 0x8d, 0x06])
    const text = `a packet of ${longest + 1} bytes is over maxPacketSize, ${longest}`
    expect(decode([connect, announced]).refusal).toBe(text)
  })

  it.each([
    ['no CONNECT', [0xc0, 0], 'CONNECT must be the first packet, and only the first (MQTT-3.1.0-1, -2)'],
    [
      'an unknown protocol',
      [0x10, 7, 0, 4, ...Buffer.from('MQTT'), 6],
      'the protocol is not MQTT 3.1, 3.1.1 or 5',
    ],
  ])('refuses %s at the beginning', (_case, bytes, text) => {
    expect(decode([Buffer.from(bytes)]).refusal).toBe(text)
  })

  it.each([
    [
      'a second CONNECT',
      [...connect],
      'CONNECT must be the first packet, and only the first (MQTT-3.1.0-1, -2)',
    ],
    ['a packet of a server', [0x20, 2, 0, 0], 'a client may not send this packet'],
    ['reserved flags', [0xc1, 0], 'the type or the flags of the packet are reserved (MQTT-2.2.2-2)'],
    ['a reserved type', [0x00, 0], 'the type or the flags of the packet are reserved (MQTT-2.2.2-2)'],
    [
      'five bytes of length',
      [0x30, 128, 128, 128, 128, 1],
      'the length has more than four bytes (MQTT-2.2.3)',
    ],
    ['QoS 3', [0x36, 0], 'the QoS is 3 (MQTT-3.3.1-4)'],
    ['DUP at QoS 0', [0x38, 0], 'DUP is set at QoS 0 (MQTT-3.3.1-2)'],
    [
      'a wildcard in a topic',
      [0x30, 3, 0, 1, 0x23],
      'the topic of a PUBLISH contains a wildcard (MQTT-3.3.2-2)',
    ],
    ['an empty topic', [0x30, 2, 0, 0], 'a topic is empty (MQTT-4.7.3-1)'],
    ['NUL in a topic', [0x30, 3, 0, 1, 0], 'a string contains NUL (MQTT-1.5.3-2)'],
    ['no UTF-8', [0x30, 3, 0, 1, 0xff], 'a string is not UTF-8 (MQTT-1.5.3-1)'],
    ['the packet identifier 0', [0x32, 5, 0, 1, 0x61, 0, 0], 'the packet identifier is 0 (MQTT-2.3.1-1)'],
    ['a PUBACK that is too long', [0x40, 3, 0, 1, 0], 'the packet has the wrong length for its type'],
    [
      'a SUBSCRIBE without filters',
      [0x82, 2, 0, 1],
      'the packet has no filter (MQTT-3.8.3-3, MQTT-3.10.3-2)',
    ],
    [
      'a filter at QoS 3',
      [0x82, 6, 0, 1, 0, 1, 0x61, 3],
      'the QoS or the retain handling of a filter is 3 (MQTT-3.8.3-4, MQTT5-3.8.3.1)',
    ],
    [
      'an UNSUBSCRIBE without filters',
      [0xa2, 2, 0, 1],
      'the packet has no filter (MQTT-3.8.3-3, MQTT-3.10.3-2)',
    ],
  ])('refuses %s', (_case, bytes, text) => {
    expect(decode([connect, Buffer.from(bytes)]).refusal).toBe(text)
  })

  /** The packets that the server is sent, too: `test/hostile`. What closes behind a DISCONNECT is no matter of the decoder. */
  const played = ['text', 'first bytes', 'lengths', 'packet identifiers'].flatMap(
    group => hostileCases[group] ?? [],
  )
  it.each(played)('$name: $outcome', ({ sends, outcome }) => {
    const decoder = decode([Buffer.concat(sends)], undefined, maxPacketSize)
    const isRefused = decoder.refusal !== undefined
    const isUnfinished = !isRefused && decoder.unfinished !== undefined
    expect({ isRefused, isUnfinished }).toEqual({
      isRefused: outcome === 'closed',
      isUnfinished: outcome === 'unfinished',
    })
  })
})

describe('bytes on their way to a broker', () => {
  it('splitPackets() gives whole packets and the rest, wherever the bytes end', () => {
    fc.assert(
      fc.property(fc.array(packets, { maxLength: 4 }), packets, fc.nat(20_000), (whole, last, end) => {
        const expected = whole.map(packet => generate(packet))
        const begun = generate(last)
        const rest = begun.subarray(0, end % begun.length)
        const split = splitPackets(Buffer.concat([...expected, rest]))
        expect(split.packets).toHaveLength(expected.length)
        expect(split.packets.every((packet, place) => packet.equals(expected[place] ?? rest))).toBe(true)
        expect(split.rest.equals(rest)).toBe(true)
      }),
      { numRuns: 200 },
    )
  })

  it('messageIdOf() is the packet id, 0 where a packet has none', () => {
    fc.assert(
      fc.property(packets, packet => {
        const isNumbered = packet.cmd !== 'publish' || packet.qos > 0
        expect(messageIdOf(generate(packet))).toBe((isNumbered && packet.messageId) || 0)
      }),
    )
  })
})
