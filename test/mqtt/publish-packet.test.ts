import fc from 'fast-check'
import { generate } from 'mqtt-packet'
import { expect, it } from 'vitest'
import { encodePublish } from '../../src/mqtt/publish-packet.ts'

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
