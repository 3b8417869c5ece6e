import fc from 'fast-check'
import type { IConnectPacket, IPublishPacket, Packet } from 'mqtt-packet'

export const connectPacket: IConnectPacket = {
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
export const packets: fc.Arbitrary<Packet> = fc.oneof(
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
