import fc from 'fast-check'
import { generate, type Packet as OtherPacket, parser } from 'mqtt-packet'
import { describe, expect, it } from 'vitest'
import { decodeConnect } from '../../../src/mqtt/packets/decode-connect.ts'
import { decodePacket, decodePublish } from '../../../src/mqtt/packets/decode-packet.ts'
import { Fields } from '../../../src/mqtt/packets/fields.ts'
import { headerAt } from '../../../src/mqtt/packets/header.ts'
import { MalformedPacket } from '../../../src/mqtt/packets/packet.ts'

/** The level and what is in front of it, which decide on the version, are read by the decoder. */
const levelEnd = 7

function fieldsOf(bytes: Buffer): Fields {
  const header = headerAt(bytes, 0)
  if (!header) throw new Error('no header')
  const content = bytes.subarray(header.start, header.start + header.length)
  return new Fields(isConnect(bytes) ? content.subarray(levelEnd) : content)
}

const isConnect = (bytes: Buffer) => (bytes[0] ?? 0) >> 4 === 1

function decode(bytes: Buffer) {
  const fields = fieldsOf(bytes)
  const firstByte = bytes[0] ?? 0
  if (isConnect(bytes)) return decodeConnect(fields, 5)
  return firstByte >> 4 === 3 ? decodePublish(firstByte, fields, true) : decodePacket(firstByte, fields, true)
}

function violationOf(bytes: readonly number[]): unknown {
  try {
    return decode(Buffer.from(bytes))
  } catch (error) {
    return error instanceof MalformedPacket ? error.violation : error
  }
}

const ofVersion5 = (packet: OtherPacket) => generate(packet, { protocolVersion: 5 })

describe('a packet of version 5', () => {
  it('reads a PUBLISH as others write it', () => {
    const packet = ofVersion5({
      cmd: 'publish',
      topic: 'things/t/write',
      payload: Buffer.from('1'),
      qos: 2,
      dup: true,
      retain: true,
      messageId: 7,
      properties: {
        payloadFormatIndicator: true,
        messageExpiryInterval: 60,
        topicAlias: 3,
        responseTopic: 'answers',
        correlationData: Buffer.from([0, 1]),
        userProperties: { a: ['1', '2'] },
        contentType: 'application/json',
      },
    })
    expect(decode(packet)).toEqual({
      cmd: 'publish',
      topic: 'things/t/write',
      payload: Buffer.from('1'),
      qos: 2,
      dup: true,
      retain: true,
      messageId: 7,
      properties: {
        payloadFormat: 1,
        messageExpiry: 60,
        topicAlias: 3,
        responseTopic: 'answers',
        correlationData: Buffer.from([0, 1]),
        userProperties: [
          ['a', '1'],
          ['a', '2'],
        ],
        contentType: 'application/json',
        carried: expect.any(Buffer),
      },
    })
  })

  it('reads a PUBLISH without a topic if it has an alias', () => {
    const packet = Buffer.from([0x32, 8, 0, 0, 0, 9, 3, 35, 0, 2])
    expect(decode(packet)).toMatchObject({ topic: '', messageId: 9, properties: { topicAlias: 2 } })
  })

  it('reads a SUBSCRIBE with the options of each filter', () => {
    const packet = ofVersion5({
      cmd: 'subscribe',
      messageId: 5,
      subscriptions: [
        { topic: 'a/#', qos: 1, nl: true, rap: true, rh: 2 },
        { topic: 'b', qos: 0, nl: false, rap: false, rh: 0 },
      ],
      properties: { subscriptionIdentifier: 200 },
    })
    expect(decode(packet)).toEqual({
      cmd: 'subscribe',
      messageId: 5,
      subscriptionIdentifier: 200,
      subscriptions: [
        { topic: 'a/#', qos: 1, noLocal: true, retainAsPublished: true, retainHandling: 2 },
        { topic: 'b', qos: 0, noLocal: false, retainAsPublished: false, retainHandling: 0 },
      ],
    })
  })

  it('reads an UNSUBSCRIBE, PINGREQ and DISCONNECT', () => {
    const unsubscribe = ofVersion5({ cmd: 'unsubscribe', messageId: 5, unsubscriptions: ['a', 'b/#'] })
    expect(decode(unsubscribe)).toEqual({ cmd: 'unsubscribe', messageId: 5, unsubscriptions: ['a', 'b/#'] })
    expect(decode(Buffer.from([0xc0, 0]))).toEqual({ cmd: 'pingreq' })
    expect(decode(Buffer.from([0xe0, 0]))).toEqual({ cmd: 'disconnect', keepsWill: false })
    const leave = [0xe0, 7, 4, 5, 17, 0, 0, 0, 9]
    expect(violationOf(leave)).toEqual({ cmd: 'disconnect', keepsWill: true, sessionExpiry: 9 })
  })

  it.each([
    ['puback', 0x40],
    ['pubrec', 0x50],
    ['pubrel', 0x62],
    ['pubcomp', 0x70],
  ])('reads a %s of two, three and more bytes', (cmd, firstByte) => {
    const reason = cmd === 'pubrel' || cmd === 'pubcomp' ? 0x92 : 0x87
    const refusal = { cmd, messageId: 1, isRefusal: true }
    expect(violationOf([firstByte, 2, 0, 1])).toEqual({ cmd, messageId: 1 })
    expect(violationOf([firstByte, 3, 0, 1, reason])).toEqual(refusal)
    expect(violationOf([firstByte, 8, 0, 1, reason, 4, 31, 0, 1, 97])).toEqual(refusal)
  })

  it('reads a CONNECT with a will, and writes it for a broker of 3.1.1', () => {
    const packet = ofVersion5({
      cmd: 'connect',
      protocolId: 'MQTT',
      protocolVersion: 5,
      clientId: 'board',
      clean: false,
      keepalive: 60,
      username: 'token',
      password: Buffer.from([0, 255]),
      properties: { sessionExpiryInterval: 3600, receiveMaximum: 10, maximumPacketSize: 1000 },
      will: {
        topic: 'gone',
        payload: Buffer.from('x'),
        qos: 1,
        retain: true,
        properties: { willDelayInterval: 5, contentType: 'text/plain' },
      },
    })
    const { connect, properties } = decodeConnect(fieldsOf(packet), 5)
    expect(connect).toMatchObject({ keepalive: 60, startsClean: false, sessionExpiry: 3600 })
    expect(properties).toEqual({ sessionExpiry: 3600, receiveMaximum: 10, maximumPacketSize: 1000 })
    const other = parser({ protocolVersion: 4 })
    const parsed: OtherPacket[] = []
    other.on('packet', each => parsed.push(each)).parse(connect.forBroker ?? Buffer.alloc(0))
    expect(parsed).toMatchObject([
      {
        ...{ cmd: 'connect', protocolVersion: 4, clientId: 'board', clean: false, keepalive: 60 },
        will: { topic: 'gone', payload: Buffer.from('x'), qos: 1, retain: true },
        username: 'token',
        password: Buffer.from([0, 255]),
      },
    ])
  })

  // By hand from the OASIS text: what is malformed (4.13, 0x81), and what is a protocol error (0x82).
  it.each([
    ['a PUBLISH without topic and alias', [0x30, 3, 0, 0, 0], 'protocol_error'],
    ['a PUBLISH on a wildcard', [0x30, 4, 0, 1, 35, 0], 'protocol_error'],
    ['a PUBLISH with packet id 0', [0x32, 6, 0, 1, 97, 0, 0, 0], 'protocol_error'],
    ['a PUBLISH without properties', [0x30, 3, 0, 1, 97], 'malformed'],
    ['a PUBLISH that ends in its properties', [0x30, 5, 0, 1, 97, 2, 1], 'malformed'],
    ['a PUBLISH with a subscription identifier', [0x30, 6, 0, 1, 97, 2, 11, 1], 'protocol_error'],
    ['a PUBACK with a reason of none', [0x40, 3, 0, 1, 0x55], 'protocol_error'],
    ['a PUBREL with a reason of PUBACK', [0x62, 3, 0, 1, 0x87], 'protocol_error'],
    ['a PUBACK with packet id 0', [0x40, 2, 0, 0], 'protocol_error'],
    ['a PUBACK of one byte', [0x40, 1, 0], 'malformed'],
    ['a SUBSCRIBE without filters', [0x82, 3, 0, 1, 0], 'protocol_error'],
    ['a SUBSCRIBE with an empty filter', [0x82, 6, 0, 1, 0, 0, 0, 0], 'malformed'],
    ['a filter with QoS 3', [0x82, 7, 0, 1, 0, 0, 1, 97, 3], 'protocol_error'],
    ['a filter with retain handling 3', [0x82, 7, 0, 1, 0, 0, 1, 97, 0x30], 'protocol_error'],
    ['a filter with reserved options', [0x82, 7, 0, 1, 0, 0, 1, 97, 0x40], 'malformed'],
    ['subscription identifier 0', [0x82, 9, 0, 1, 2, 11, 0, 0, 1, 97, 0], 'protocol_error'],
    ['an UNSUBSCRIBE without filters', [0xa2, 3, 0, 1, 0], 'protocol_error'],
    ['a DISCONNECT with the reason of a server', [0xe0, 1, 0x8b], 'protocol_error'],
    ['a DISCONNECT with a server reference', [0xe0, 6, 0, 4, 28, 0, 1, 97], 'protocol_error'],
    ['bytes behind a PUBACK', [0x40, 5, 0, 1, 0, 0, 0], 'malformed'],
  ])('refuses %s', (_, bytes, violation) => {
    expect(violationOf(bytes)).toBe(violation)
  })

  it('takes or refuses any bytes with MalformedPacket alone', () => {
    const bytes = fc.uint8Array({ maxLength: 60 })
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 255 }), bytes, (firstByte, content) => {
        const packet = Buffer.concat([Buffer.from([firstByte, content.length]), content])
        try {
          decode(packet)
        } catch (error) {
          expect(error).toBeInstanceOf(MalformedPacket)
        }
      }),
      { numRuns: 5_000 },
    )
  })
})
