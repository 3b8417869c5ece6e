import fc from 'fast-check'
import { generate, type Packet } from 'mqtt-packet'
import { expect, it } from 'vitest'
import { disconnect, encodeAck, encodePublish, pingreq, pingresp } from '../../../src/mqtt/packets/encode.ts'
import { types } from '../../../src/mqtt/packets/packet.ts'

const topic = fc.oneof(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 }), fc.constant('t'))
/** Around the lengths at which the header of a packet grows by a byte (MQTT-2.2.3). */
const length = fc
  .tuple(fc.constantFrom(0, 128, 16_384, 2_097_152), fc.integer({ min: -12, max: 3 }))
  .map(([around, more]) => Math.max(0, around + more))

it('encodePublish() gives the bytes that another implementation gives', () => {
  fc.assert(
    fc.property(
      topic,
      length,
      fc.boolean(),
      fc.boolean(),
      fc.option(fc.constantFrom(1, 255, 256, 65_535), { nil: undefined }),
      (topic, length, isRetained, isDuplicate, messageId) => {
        const payload = Buffer.alloc(length, 'ä')
        const qos = messageId === undefined ? 0 : 1
        const dup = isDuplicate && qos === 1
        const encoded = encodePublish({ topic, payload, isRetained, isDuplicate: dup, messageId })
        const numbered = messageId === undefined ? {} : { messageId }
        const expected = generate({
          cmd: 'publish',
          topic,
          payload,
          retain: isRetained,
          qos,
          dup,
          ...numbered,
        })
        expect(encoded.equals(expected)).toBe(true)
      },
    ),
    { numRuns: 300 },
  )
})

it.each<[string, Uint8Array, Packet]>([
  ['PUBACK', encodeAck(types.puback, 258), { cmd: 'puback', messageId: 258 }],
  ['PUBREC', encodeAck(types.pubrec, 1), { cmd: 'pubrec', messageId: 1 }],
  ['PUBCOMP', encodeAck(types.pubcomp, 65_535), { cmd: 'pubcomp', messageId: 65_535 }],
  ['UNSUBACK', encodeAck(types.unsuback, 7), { cmd: 'unsuback', messageId: 7, granted: [] }],
  ['PINGREQ', pingreq, { cmd: 'pingreq' }],
  ['PINGRESP', pingresp, { cmd: 'pingresp' }],
  ['DISCONNECT', disconnect, { cmd: 'disconnect' }],
])('%s has the bytes that another implementation gives', (_name, encoded, packet) => {
  expect(Buffer.from(encoded)).toEqual(generate(packet))
})
