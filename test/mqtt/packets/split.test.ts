import fc from 'fast-check'
import { generate } from 'mqtt-packet'
import { expect, it } from 'vitest'
import { messageIdOf, splitPackets } from '../../../src/mqtt/host/broker-link.ts'
import { packets } from './arbitrary-packets.ts'

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
