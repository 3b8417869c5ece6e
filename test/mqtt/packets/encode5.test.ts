import { type Packet, parser } from 'mqtt-packet'
import { describe, expect, it } from 'vitest'
import { ThingwireError } from '../../../src/errors.ts'
import { encodePublish } from '../../../src/mqtt/packets/encode.ts'
import {
  encodeAck5,
  encodeConnack5,
  encodeDisconnect5,
  encodeFilterAck5,
} from '../../../src/mqtt/packets/encode5.ts'
import { types } from '../../../src/mqtt/packets/packet.ts'
import { writeProperties } from '../../../src/mqtt/packets/properties.ts'

const limits = { maximumPacketSize: 1_000, wantsReasons: true }
const errors = [{ index: 0, field: 'key', reason: 'invalid_key', message: 'values[0]: key' }] as const
const refusal = new ThingwireError('invalid_key', 'values[0]: key', { errors })

/** As another library reads it. */
function parsed(bytes: Buffer): Packet {
  const packets: Packet[] = []
  const reader = parser({ protocolVersion: 5 })
  reader.on('packet', packet => packets.push(packet)).on('error', error => expect(error).toBeUndefined())
  reader.parse(bytes)
  expect(packets).toHaveLength(1)
  return packets[0] as Packet
}

describe('version 5, as another library reads it', () => {
  it('is a PUBLISH', () => {
    const publish = {
      topic: 'a/ü',
      payload: Buffer.from('1'),
      isRetained: true,
      messageId: 300,
      isDuplicate: true,
    }
    const bytes = encodePublish(
      publish,
      writeProperties({ subscriptionIdentifier: 200, userProperties: [['a', 'b']] }),
    )
    expect(parsed(bytes)).toMatchObject({
      cmd: 'publish',
      topic: 'a/ü',
      payload: Buffer.from('1'),
      qos: 1,
      retain: true,
      dup: true,
      messageId: 300,
      properties: { subscriptionIdentifier: 200, userProperties: { a: 'b' } },
    })
  })

  it('is an ack of four bytes for a success', () => {
    expect(encodeAck5(types.puback, 7, 0, undefined, limits)).toEqual(Buffer.from([0x40, 2, 0, 7]))
  })

  it('is an ack with the reasons of a refusal', () => {
    expect(parsed(encodeAck5(types.pubrec, 7, 0x83, refusal, limits))).toMatchObject({
      cmd: 'pubrec',
      messageId: 7,
      reasonCode: 0x83,
      properties: {
        reasonString: 'values[0]: key',
        userProperties: { reason: 'invalid_key', retryable: 'no', errors: JSON.stringify(errors) },
      },
    })
  })

  it.each([
    [0, [], undefined],
    [22, [], undefined],
    [23, [], 'values[0]: key'],
    [45, ['reason'], 'values[0]: key'],
    [80, ['reason', 'retryable'], 'values[0]: key'],
  ])(
    'leaves reasons off from the last on for a client that takes %i bytes',
    (maximumPacketSize, names, text) => {
      const bytes = encodeAck5(types.puback, 7, 0x83, refusal, { ...limits, maximumPacketSize })
      const { properties = {} } = parsed(bytes) as { properties?: Record<string, unknown> }
      expect(Object.keys((properties.userProperties as object) ?? {})).toEqual(names)
      expect(properties.reasonString).toBe(text)
      expect(bytes.length).toBeLessThanOrEqual(Math.max(maximumPacketSize, 5))
    },
  )

  it('has the code alone for a client that takes no reasons', () => {
    const bytes = encodeAck5(types.puback, 7, 0x83, refusal, { ...limits, wantsReasons: false })
    expect(bytes).toEqual(Buffer.from([0x40, 3, 0, 7, 0x83]))
  })

  it('is a SUBACK, UNSUBACK, CONNACK and DISCONNECT', () => {
    const suback = encodeFilterAck5(types.suback, 5, [1, 0x87])
    expect(parsed(suback)).toMatchObject({ cmd: 'suback', messageId: 5, granted: [1, 0x87] })
    const unsuback = encodeFilterAck5(types.unsuback, 5, [0, 0x11])
    expect(parsed(unsuback)).toMatchObject({ cmd: 'unsuback', messageId: 5, granted: [0, 0x11] })
    const connack = encodeConnack5(0, true, { receiveMaximum: 256, assignedClientId: 'x' })
    expect(parsed(connack)).toMatchObject({
      cmd: 'connack',
      sessionPresent: true,
      reasonCode: 0,
      properties: { receiveMaximum: 256, assignedClientIdentifier: 'x' },
    })
    const disconnect = encodeDisconnect5(0x8e, new Error('the client has connected again'), limits)
    expect(parsed(disconnect)).toMatchObject({
      cmd: 'disconnect',
      reasonCode: 0x8e,
      properties: { reasonString: 'the client has connected again' },
    })
  })
})
