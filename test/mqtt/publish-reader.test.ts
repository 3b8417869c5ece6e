import fc from 'fast-check'
import { generate, type IPublishPacket, type Packet, parser } from 'mqtt-packet'
import { describe, expect, it } from 'vitest'
import { PublishReader } from '../../src/mqtt/publish-reader.ts'

const longest = 100_000
const topic = 'things/t/write'

const publishes = fc
  .record({
    topic: fc.constantFrom(topic, 'things/t/writ', 'things/t/writes', 'things/u/write', 'ä'),
    payload: fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      // Around the lengths at which the header grows by a byte (MQTT-2.2.3).
      fc.integer({ min: 16_360, max: 16_390 }).map(length => new Uint8Array(length)),
    ),
    qos: fc.constantFrom(0, 1, 2),
    messageId: fc.integer({ min: 1, max: 65_535 }),
    retain: fc.boolean(),
    dup: fc.boolean(),
  })
  .map(({ payload, dup, qos, ...rest }): IPublishPacket => {
    return { cmd: 'publish', ...rest, payload: Buffer.from(payload), qos, dup: dup && qos > 0 }
  })

const others: readonly Packet[] = [
  { cmd: 'pingreq' },
  { cmd: 'puback', messageId: 7 },
  { cmd: 'subscribe', messageId: 8, subscriptions: [{ topic, qos: 1 }] },
  { cmd: 'disconnect' },
]

function readerOf(known: string | undefined): PublishReader {
  const reader = new PublishReader(longest)
  if (known !== undefined) reader.expect(known)
  return reader
}

function parsedBy(bytes: Buffer): Packet | undefined {
  const parsing = parser({ protocolVersion: 4 })
  let parsed: Packet | undefined
  parsing.on('packet', packet => {
    parsed ??= packet
  })
  parsing.on('error', () => {})
  parsing.parse(bytes)
  return parsed
}

describe('PublishReader', () => {
  it('reads what the parser reads, of the topic that it expects', () => {
    const mostlyKnown = fc.oneof({ weight: 4, arbitrary: fc.constant(topic) }, fc.constant('ä'))
    fc.assert(
      fc.property(publishes, mostlyKnown, fc.nat(20), (publish, known, before) => {
        const packet = generate(publish)
        const bytes = Buffer.concat([Buffer.alloc(before, 0x30), packet, Buffer.from([0xc0, 0])])
        const reader = readerOf(known)
        const read = reader.read(bytes, before)
        if (publish.topic !== known) {
          expect(read).toBeUndefined()
          return
        }
        expect(reader.end).toBe(before + packet.length)
        expect({ ...read }).toEqual({ ...parsedBy(packet) })
      }),
      { numRuns: 500 },
    )
  })

  it('leaves to the parser what is not there to its end', () => {
    const packet = generate({
      cmd: 'publish',
      topic,
      payload: 'x',
      qos: 1,
      messageId: 1,
      dup: false,
      retain: false,
    })
    for (let length = 0; length < packet.length; length++) {
      expect(readerOf(topic).read(packet.subarray(0, length), 0)).toBeUndefined()
    }
    expect(readerOf(topic).read(packet, 0)).toBeDefined()
  })

  it.each(others)('leaves $cmd to the parser', other => {
    expect(readerOf(topic).read(generate(other), 0)).toBeUndefined()
  })

  it('leaves everything to the parser before it knows a topic', () => {
    const packet = generate({ cmd: 'publish', topic, payload: '', qos: 0, dup: false, retain: false })
    expect(readerOf(undefined).read(packet, 0)).toBeUndefined()
    expect(readerOf(undefined).read(Buffer.from([0x30, 2, 0, 0]), 0)).toBeUndefined()
  })

  it('leaves to the parser what it would refuse: nothing is read that it does not read', () => {
    const packet = generate({
      cmd: 'publish',
      topic,
      payload: 'xy',
      qos: 1,
      messageId: 9,
      dup: false,
      retain: false,
    })
    fc.assert(
      fc.property(fc.nat(packet.length - 1), fc.nat(255), (place, byte) => {
        const bytes = Buffer.from(packet)
        bytes[place] = byte
        const read = readerOf(topic).read(bytes, 0)
        if (read) expect({ ...read }).toEqual({ ...parsedBy(bytes) })
      }),
      { numRuns: 2_000 },
    )
  })

  it.each([
    ['QoS 3', 0x36, [0, 1]],
    ['DUP at QoS 0', 0x38, []],
    ['the packet identifier 0', 0x32, [0, 0]],
  ])('leaves %s to the parser', (_case, firstByte, identifier) => {
    const content = Buffer.concat([
      Buffer.from([0, topic.length]),
      Buffer.from(topic),
      Buffer.from(identifier),
    ])
    const bytes = Buffer.concat([Buffer.from([firstByte, content.length]), content])
    expect(readerOf(topic).read(bytes, 0)).toBeUndefined()
  })

  it('leaves a packet that is too long to the parser', () => {
    const reader = new PublishReader(20)
    reader.expect(topic)
    const of = (payload: string) =>
      generate({ cmd: 'publish', topic, payload, qos: 0, dup: false, retain: false })
    expect(reader.read(of('1234'), 0)).toBeDefined()
    expect(reader.read(of('12345'), 0)).toBeUndefined()
  })
})
