import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Fields } from '../../../src/mqtt/packets/fields.ts'
import { MalformedPacket } from '../../../src/mqtt/packets/packet.ts'
import { readProperties, type WithProperties, writeProperties } from '../../../src/mqtt/packets/properties.ts'

/**
 * Written by hand from table 2-4 of the OASIS text: number, an example of a value on the wire, the packets of a client that may have
 * it, and values that are of its type and not allowed. Packets that only a server sends, and what only a server sends in a packet of
 * both, are none of a client's.
 */
const byClients = 'connect will publish puback pubrec pubrel pubcomp subscribe unsubscribe disconnect auth'
const acks = 'puback pubrec pubrel pubcomp'
type Row = readonly [number: number, name: string, value: number[], of: string, ...wrong: number[][]]

const table: readonly Row[] = [
  [1, 'Payload Format Indicator', [1], 'publish will', [2], [255]],
  [2, 'Message Expiry Interval', [0, 0, 0, 9], 'publish will'],
  [3, 'Content Type', [0, 1, 97], 'publish will'],
  [8, 'Response Topic', [0, 1, 97], 'publish will', [0, 0], [0, 1, 35], [0, 1, 43]],
  [9, 'Correlation Data', [0, 2, 0, 255], 'publish will'],
  [11, 'Subscription Identifier', [0x80, 1], 'subscribe', [0]],
  [17, 'Session Expiry Interval', [255, 255, 255, 255], 'connect disconnect'],
  [18, 'Assigned Client Identifier', [0, 1, 97], ''],
  [19, 'Server Keep Alive', [0, 60], ''],
  [21, 'Authentication Method', [0, 1, 97], 'connect auth'],
  [22, 'Authentication Data', [0, 1, 0], 'connect auth'],
  [23, 'Request Problem Information', [0], 'connect', [2]],
  [24, 'Will Delay Interval', [0, 0, 0, 9], 'will'],
  [25, 'Request Response Information', [1], 'connect', [2]],
  [26, 'Response Information', [0, 1, 97], ''],
  [28, 'Server Reference', [0, 1, 97], ''],
  [31, 'Reason String', [0, 1, 97], `${acks} disconnect auth`],
  [33, 'Receive Maximum', [0, 1], 'connect', [0, 0]],
  [34, 'Topic Alias Maximum', [0, 0], 'connect'],
  [35, 'Topic Alias', [0, 1], 'publish'],
  [36, 'Maximum QoS', [1], ''],
  [37, 'Retain Available', [1], ''],
  [38, 'User Property', [0, 1, 97, 0, 1, 98], byClients],
  [39, 'Maximum Packet Size', [0, 0, 1, 0], 'connect', [0, 0, 0, 0]],
  [40, 'Wildcard Subscription Available', [1], ''],
  [41, 'Subscription Identifier Available', [1], ''],
  [42, 'Shared Subscription Available', [1], ''],
]
const packets = byClients.split(' ') as WithProperties[]
const longest = 268_435_455

/** @returns the violation with which the bytes are refused, or the properties */
function outcomeOf(packet: WithProperties, content: readonly number[], announced = content.length) {
  const bytes = Buffer.from([announced, ...content])
  try {
    return readProperties(new Fields(bytes), packet)
  } catch (error) {
    if (error instanceof MalformedPacket) return error.violation
    throw error
  }
}

describe('readProperties()', () => {
  it('has a row for each of the 27 properties of the standard', () => {
    expect(table).toHaveLength(27)
  })

  for (const [number, name, value, of, ...wrong] of table) {
    describe(`of property ${number}, ${name}`, () => {
      it.each(packets)('takes it in the packets that may have it alone: %s', packet => {
        const isAllowed = of.split(' ').includes(packet)
        const outcome = outcomeOf(packet, [number, ...value])
        if (isAllowed) expect(Object.keys(outcome)).toHaveLength(1)
        else expect(outcome).toBe('malformed')
      })

      const [packet] = of.split(' ') as [WithProperties]
      if (of === '') return

      it('takes it once, a User Property more often', () => {
        const twice = outcomeOf(packet, [number, ...value, number, ...value])
        if (name === 'User Property') expect(twice).toEqual({ userProperties: Array(2).fill(['a', 'b']) })
        else expect(twice).toBe('protocol_error')
      })

      it('refuses it cut anywhere', () => {
        for (let length = 1; length <= value.length; length++) {
          const cut = [number, ...value].slice(0, length)
          expect(outcomeOf(packet, cut)).toBe('malformed')
          expect(outcomeOf(packet, cut, length + 1)).toBe('malformed')
        }
      })

      it.each(wrong)('refuses a value that is not allowed', (...bytes) => {
        expect(outcomeOf(packet, [number, ...bytes])).toBe('protocol_error')
      })

      if (value[0] === 0 && value[1] === 1 && value[2] === 97)
        it('refuses text that is not UTF-8, or contains NUL', () => {
          expect(outcomeOf(packet, [number, 0, 1, 0xff])).toBe('malformed')
          expect(outcomeOf(packet, [number, 0, 1, 0])).toBe('malformed')
        })
    })
  }

  it.each([0, 4, 5, 6, 7, 10, 12, 16, 20, 27, 29, 32, 43, 127])('refuses the unknown property %i', number => {
    for (const packet of packets) expect(outcomeOf(packet, [number, 0, 0, 0, 0])).toBe('malformed')
  })

  it('refuses a length of more than four bytes', () => {
    const fields = new Fields(Buffer.from([0x80, 0x80, 0x80, 0x80, 1]))
    expect(() => readProperties(fields, 'publish')).toThrow(MalformedPacket)
  })

  it('takes or refuses any bytes with MalformedPacket alone', () => {
    const bytes = fc.uint8Array({ maxLength: 40 })
    fc.assert(
      fc.property(fc.constantFrom(...packets), bytes, (packet, content) => {
        outcomeOf(packet, [...content])
      }),
    )
  })

  it('reads what writeProperties() writes', () => {
    const text = fc
      .string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 200 })
      .map(some => some.replace(/[+#]/g, ''))
    const all = fc.record(
      {
        payloadFormat: fc.constantFrom(0, 1),
        messageExpiry: fc.integer({ min: 0, max: 0xffffffff }),
        contentType: text,
        correlationData: fc.uint8Array({ maxLength: 200 }).map(bytes => Buffer.from(bytes)),
        topicAlias: fc.integer({ min: 0, max: 0xffff }),
        userProperties: fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 5 }),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(all, values => {
        expect(readProperties(new Fields(writeProperties(values)), 'publish')).toEqual(values)
      }),
    )
    fc.assert(
      fc.property(fc.integer({ min: 1, max: longest }), subscriptionIdentifier => {
        const bytes = writeProperties({ subscriptionIdentifier })
        expect(readProperties(new Fields(bytes), 'subscribe')).toEqual({ subscriptionIdentifier })
      }),
    )
  })
})
