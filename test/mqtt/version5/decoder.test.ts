import fc from 'fast-check'
import { generate, type IPublishPacket, type Packet as OtherPacket, parser } from 'mqtt-packet'
import { describe, expect, it } from 'vitest'
import { Decoder } from '../../../src/mqtt/packets/decoder.ts'
import { MalformedPacket, type Packet, type Properties } from '../../../src/mqtt/packets/packet.ts'

/** What a client may send, in the words of mqtt-packet. */
const text = fc.string({ maxLength: 6, unit: fc.constantFrom('a', 'Z', '0', ' ', 'ä', '€', '𝄞', '\ufeff') })
const name = text.map(each => `n${each}`)
const userProperties = fc.dictionary(name, fc.oneof(text, fc.array(text, { minLength: 2, maxLength: 3 })), {
  // mqtt-packet writes no packet with none.
  minKeys: 1,
  maxKeys: 3,
})
const topic = fc.constantFrom('things/t/write', 'things/t/writ', 'things/u/write', 'ä', '/')
const filter = fc.constantFrom('#', 'things/+/values/#', 'a/b', 'ä', '$share/g/a')
const messageId = fc.integer({ min: 1, max: 65_535 })
const qos = fc.constantFrom(0 as const, 1 as const, 2 as const)
const seconds = fc.integer({ min: 0, max: 0xffff_ffff })
const bytes = (maxLength: number) => fc.uint8Array({ maxLength }).map(each => Buffer.from(each))
const optional: { requiredKeys: [] } = { requiredKeys: [] }

const messageProperties = {
  payloadFormatIndicator: fc.boolean(),
  messageExpiryInterval: seconds,
  contentType: text,
  responseTopic: topic,
  correlationData: bytes(5),
  userProperties,
}

const publish = fc
  .record({
    cmd: fc.constant('publish' as const),
    topic,
    // Around the lengths at which the header grows by a byte (2.1.4).
    payload: fc.oneof(
      bytes(30),
      fc.constantFrom(100, 110, 120, 130, 16_370).map(length => Buffer.alloc(length)),
    ),
    qos,
    messageId,
    retain: fc.boolean(),
    dup: fc.boolean(),
    properties: fc.record({ ...messageProperties, topicAlias: fc.integer({ min: 1, max: 16 }) }, optional),
  })
  .map((each): IPublishPacket => ({ ...each, dup: each.dup && each.qos > 0 }))

/** An alias that is set, and what is published on it from then on. */
const aliased = fc
  .tuple(publish, publish, fc.integer({ min: 1, max: 16 }))
  .map(([setting, using, topicAlias]): OtherPacket[] => [
    { ...setting, properties: { ...setting.properties, topicAlias } },
    { ...using, topic: '', properties: { ...using.properties, topicAlias } },
  ])

const reason = fc.record({ reasonString: text, userProperties }, optional)
const ack = fc
  .constantFrom(
    ...(['puback', 'pubrec'] as const).map(cmd => [cmd, [0, 0x80, 0x87, 0x99]] as const),
    ...(['pubrel', 'pubcomp'] as const).map(cmd => [cmd, [0, 0x92]] as const),
  )
  .chain(([cmd, codes]) =>
    fc.record({
      cmd: fc.constant(cmd),
      messageId,
      reasonCode: fc.constantFrom(...codes),
      properties: reason,
    }),
  )

const subscribe = fc.record({
  cmd: fc.constant('subscribe' as const),
  messageId,
  subscriptions: fc.array(
    fc
      .record({
        ...{ topic: filter, qos, nl: fc.boolean(), rap: fc.boolean() },
        rh: fc.constantFrom(0, 1, 2),
      })
      // No Local is a protocol error there (MQTT-3.8.3-4).
      .map(each => ({ ...each, nl: each.nl && !each.topic.startsWith('$share') })),
    { minLength: 1, maxLength: 3 },
  ),
  properties: fc.record(
    {
      subscriptionIdentifier: fc.oneof(fc.integer({ min: 1, max: 268_435_455 }), fc.constantFrom(127, 128)),
      userProperties,
    },
    optional,
  ),
})

const unsubscribe = fc.record({
  cmd: fc.constant('unsubscribe' as const),
  messageId,
  unsubscriptions: fc.array(filter, { minLength: 1, maxLength: 3 }),
  properties: fc.record({ userProperties }, optional),
})

const leave = fc.record({
  cmd: fc.constant('disconnect' as const),
  reasonCode: fc.constantFrom(0, 4, 0x80, 0x93),
  properties: fc.record({ sessionExpiryInterval: seconds, reasonString: text, userProperties }, optional),
})

const others: fc.Arbitrary<OtherPacket> = fc.oneof(
  { weight: 4, arbitrary: publish },
  { weight: 2, arbitrary: ack },
  subscribe,
  unsubscribe,
  leave,
  fc.constant({ cmd: 'pingreq' as const }),
)
const packets = fc
  .array(fc.oneof({ weight: 5, arbitrary: others.map(each => [each]) }, aliased), { maxLength: 5 })
  .map(each => each.flat())

const connect = fc
  .record({
    keepalive: fc.integer({ min: 0, max: 65_535 }),
    clean: fc.boolean(),
    clientId: text.map(each => `c${each}`),
    properties: fc.record(
      {
        sessionExpiryInterval: seconds,
        receiveMaximum: messageId,
        maximumPacketSize: fc.integer({ min: 1, max: 0xffff_ffff }),
        topicAliasMaximum: fc.integer({ min: 0, max: 65_535 }),
        requestResponseInformation: fc.boolean(),
        requestProblemInformation: fc.boolean(),
        userProperties,
      },
      optional,
    ),
    will: fc.option(
      fc.record({
        ...{ topic, payload: bytes(10), qos, retain: fc.boolean() },
        properties: fc.record({ ...messageProperties, willDelayInterval: seconds }, optional),
      }),
      { nil: undefined },
    ),
  })
  .map(({ will, ...rest }): OtherPacket => {
    return { cmd: 'connect', protocolId: 'MQTT', protocolVersion: 5, ...rest, ...(will && { will }) }
  })

const longest = 100_000
const written = (...sent: readonly OtherPacket[]) =>
  Buffer.concat(sent.map(each => generate(each, { protocolVersion: 5 })))
const plainConnect = written({ cmd: 'connect', protocolId: 'MQTT', protocolVersion: 5, clientId: 'x' })

/** What a decoder makes of bytes that come in pieces, or how it refuses them. Any other error fails the test. */
function decode(pieces: readonly Buffer[]) {
  const decoder = new Decoder(longest)
  const taken: Packet[] = []
  const raw: Buffer[] = []
  let refusal: readonly string[] | undefined
  const take = (packet: Packet) => {
    taken.push(packet)
    raw.push(Buffer.from(decoder.raw))
  }
  try {
    for (const piece of pieces) {
      for (let rest = piece; rest.length > 0; ) rest = decoder.read(rest, { mayTake: () => true, take })
    }
  } catch (error) {
    if (!(error instanceof MalformedPacket)) throw error
    refusal = [error.violation, error.message]
  }
  // Bytes that are not taken yet are no result where the packet is refused.
  const unfinished = refusal ? undefined : decoder.unfinishedBytes
  return { taken, raw: Buffer.concat(raw).toString('latin1'), refusal, unfinished }
}

function decodedByOther(from: Buffer): OtherPacket[] {
  const other = parser({ protocolVersion: 5 })
  const taken: OtherPacket[] = []
  other.on('packet', packet => taken.push(packet))
  other.on('error', () => {})
  other.parse(from)
  return taken
}

/** Without what is undefined. */
function present(members: object): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}

/** User properties by name, as mqtt-packet keeps them, which forgets values that are empty. */
function byName(pairs: Properties['userProperties']): object | undefined {
  if (!pairs) return
  const valuesOf = (wanted: string) =>
    pairs.filter(([each]) => each === wanted).flatMap(([, value]) => value || [])
  return Object.fromEntries(pairs.map(([each]) => [each, valuesOf(each)]))
}

const asList = (value: unknown) => [value].flat().filter(each => each !== '')

/** A packet of ours, in words that both have. */
function inCommon(packet: Packet): object {
  switch (packet.cmd) {
    case 'connect': {
      const { cmd, keepalive, startsClean, sessionExpiry } = packet
      return { cmd, keepalive, startsClean, sessionExpiry }
    }
    case 'publish': {
      const {
        properties: { userProperties: pairs, carried: _, ...rest } = {},
        messageId: id,
        ...publish
      } = packet
      const numbered = publish.qos > 0 ? { id } : {}
      return {
        ...publish,
        payload: publish.payload.toString('latin1'),
        ...numbered,
        properties: present({ ...rest, userProperties: byName(pairs) }),
      }
    }
    case 'disconnect': {
      const { cmd, keepsWill = false, sessionExpiry } = packet
      return present({ cmd, keepsWill, sessionExpiry })
    }
    case 'subscribe':
      return present(packet)
    case 'unsubscribe':
    case 'pingreq':
      return packet
    default:
      return { cmd: packet.cmd, messageId: packet.messageId, isRefusal: packet.isRefusal ?? false }
  }
}

/** A packet of mqtt-packet, in the same words. @param aliases topics of the connection so far, which it adds to */
function inCommonOfOther(packet: OtherPacket, aliases: Map<number, string>): object {
  switch (packet.cmd) {
    case 'connect': {
      const { cmd, keepalive, clean: startsClean, properties = {} } = packet
      return { cmd, keepalive, startsClean, sessionExpiry: properties.sessionExpiryInterval ?? 0 }
    }
    case 'publish': {
      const { cmd, topic: said, payload, qos: level, dup, retain, messageId: id, properties = {} } = packet
      const { topicAlias, payloadFormatIndicator, messageExpiryInterval, userProperties: users } = properties
      if (topicAlias !== undefined && said !== '') aliases.set(topicAlias, said)
      const topic = said === '' ? aliases.get(topicAlias ?? 0) : said
      const numbered = level > 0 ? { id } : {}
      const { contentType, responseTopic, correlationData } = properties
      const entries = Object.entries(users ?? {}).map(([each, value]) => [each, asList(value)])
      return {
        ...{ cmd, topic, payload: payload.toString('latin1'), qos: level, dup, retain, ...numbered },
        properties: present({
          ...{
            topicAlias,
            contentType,
            responseTopic,
            correlationData,
            messageExpiry: messageExpiryInterval,
          },
          payloadFormat: payloadFormatIndicator === undefined ? undefined : Number(payloadFormatIndicator),
          userProperties: users && Object.fromEntries(entries),
        }),
      }
    }
    case 'disconnect': {
      const { cmd, reasonCode = 0, properties = {} } = packet
      return present({ cmd, keepsWill: reasonCode !== 0, sessionExpiry: properties.sessionExpiryInterval })
    }
    case 'subscribe': {
      const { cmd, messageId: id, properties = {} } = packet
      const subscriptions = packet.subscriptions.map(({ topic, qos: level, nl, rap, rh }) => {
        return { topic, qos: level, noLocal: nl, retainAsPublished: rap, retainHandling: rh }
      })
      const { subscriptionIdentifier } = properties
      return present({ cmd, messageId: id, subscriptions, subscriptionIdentifier })
    }
    case 'unsubscribe': {
      const { cmd, messageId: id, unsubscriptions } = packet
      return { cmd, messageId: id, unsubscriptions }
    }
    case 'puback':
    case 'pubrec':
    case 'pubrel':
    case 'pubcomp': {
      const { cmd, messageId: id, reasonCode = 0 } = packet
      return { cmd, messageId: id, isRefusal: reasonCode >= 0x80 }
    }
    default:
      return { cmd: packet.cmd }
  }
}

function asOtherReads(from: Buffer): object[] {
  const aliases = new Map<number, string>()
  return decodedByOther(from).map(each => inCommonOfOther(each, aliases))
}

/** Text of a result: comparing byte by byte takes the time of ten packets. How a CONNECT is judged at the door is left out. */
function textOf(value: unknown): string {
  return JSON.stringify(value, function (this: Record<string, unknown>, key, member) {
    const original = this[key]
    return Buffer.isBuffer(original) ? original.toString('latin1') : member
  })
}

/** Tries bytes in one piece and cut. */
function expectSame(whole: Buffer, places: readonly number[]): void {
  expect(textOf(decode(cut(whole, places)))).toBe(textOf(decode([whole])))
}

/** Cuts bytes at places. */
function cut(whole: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...places.map(place => place % (whole.length + 1)).sort((a, b) => a - b), whole.length]
  return ends.map((end, index) => Buffer.from(whole.subarray(ends[index - 1] ?? 0, end)))
}

const cuts = fc.array(fc.nat(100_000), { maxLength: 8 })
const changes = fc.array(fc.record({ place: fc.nat(400), byte: fc.nat(255) }), { maxLength: 3 })

function changed(whole: Buffer, at: readonly { readonly place: number; readonly byte: number }[]): Buffer {
  const bytes = Buffer.from(whole)
  for (const { place, byte } of at) if (bytes.length > 0) bytes[place % bytes.length] = byte
  return bytes
}

describe('Decoder of MQTT 5', () => {
  it('reads what another implementation reads, however it is cut', () => {
    fc.assert(
      fc.property(connect, packets, cuts, (begin, sent, places) => {
        const whole = written(begin, ...sent)
        const { taken, raw, refusal, unfinished } = decode(cut(whole, places))
        expect({ refusal, unfinished }).toEqual({ refusal: undefined, unfinished: undefined })
        expect(raw).toBe(whole.toString('latin1'))
        expect(taken.map(inCommon)).toEqual(asOtherReads(whole))
        expect(taken).toHaveLength(sent.length + 1)
      }),
      { numRuns: 1_000 },
    )
  })

  it('makes the same of packets with wrong bytes however they are cut', () => {
    fc.assert(
      fc.property(packets, changes, cuts, (sent, at, places) => {
        expectSame(Buffer.concat([plainConnect, changed(written(...sent), at)]), places)
      }),
      { numRuns: 3_000 },
    )
  })

  it('makes the same of a CONNECT with wrong bytes however it is cut', () => {
    fc.assert(
      fc.property(connect, changes, cuts, (begin, at, places) => {
        expectSame(changed(written(begin), at), places)
      }),
      { numRuns: 3_000 },
    )
  })

  it('makes the same of any bytes however they are cut', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 255 }), bytes(60), cuts, (firstByte, content, places) => {
        // Bytes of a true length get further than any others.
        const framed = Buffer.concat([Buffer.from([firstByte, content.length]), content])
        for (const tail of [framed, content]) {
          expectSame(Buffer.concat([plainConnect, tail]), places)
        }
      }),
      { numRuns: 3_000 },
    )
  })

  it('takes nothing with wrong bytes that another implementation reads otherwise', () => {
    fc.assert(
      fc.property(others, changes, (sent, at) => {
        const whole = Buffer.concat([plainConnect, changed(written(sent), at)])
        const [taken, other] = [decode([whole]).taken.map(inCommon), asOtherReads(whole)]
        // mqtt-packet reads on behind a DISCONNECT of length 0, and gives up where the bytes behind it are no properties.
        const both = Math.min(taken.length, other.length)
        expect(taken.slice(0, both)).toEqual(other.slice(0, both))
      }),
      { numRuns: 3_000 },
    )
  })
})
