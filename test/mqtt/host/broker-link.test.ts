import type { Duplex } from 'node:stream'
import { PassThrough } from 'node:stream'
import type { Client } from 'aedes'
import { generate, type Packet } from 'mqtt-packet'
import { describe, expect, it } from 'vitest'
import { BrokerLink } from '../../../src/mqtt/host/broker-link.ts'
import { encodePublish } from '../../../src/mqtt/packets/encode.ts'
import { publishPacket } from '../../helpers/mqtt-client.ts'

/** A link to a broker that is played by the test. @param unacked packet ids that are in use */
function openLink(unacked: readonly number[] = []) {
  const socket = new PassThrough()
  let stream: Duplex = socket
  const closed: (Error | null)[] = []
  const link = new BrokerLink(
    socket,
    given => {
      stream = given
      given.on('error', () => {})
      return { connected: true } as Client
    },
    {
      onRoom: () => {},
      onMessages: () => {},
      onHold: () => {},
      onRelease: () => {},
      onClosedByBroker: error => closed.push(error),
      isUnacked: messageId => unacked.includes(messageId),
    },
  )
  const answer = (...packets: Packet[]) =>
    stream.write(Buffer.concat(packets.map(packet => generate(packet))))
  const sent = () => socket.read() as Buffer | null
  return { link, stream, closed, answer, sent }
}

const message = (messageId: number) => publishPacket('plant/press', 'on', { qos: 1, messageId })

describe('BrokerLink', () => {
  it('keeps a message whose packet id is in use until that is acknowledged', () => {
    const { link, answer, sent } = openLink([7])
    answer(message(6), message(7), { cmd: 'pingresp' })
    expect(sent()).toEqual(Buffer.concat([generate(message(6)), generate({ cmd: 'pingresp' })]))
    expect([6, 7].map(id => link.uses(id))).toEqual([true, false])
    expect(link.takeWaiting(7)).toEqual(generate(message(7)))
    expect(link.uses(7)).toBe(true)
    link.acked(7)
    expect(link.uses(7)).toBe(false)
  })

  it('leaves out what a client was answered without the broker, and the answers to PINGREQs of its own', () => {
    const { link, stream, answer, sent } = openLink()
    link.becomeOurs()
    link.keepAlive(performance.now() + 1_000, 1_000)
    expect(stream.read()).toEqual(generate({ cmd: 'pingreq' }))
    answer({ cmd: 'connack', returnCode: 0, sessionPresent: false }, { cmd: 'pingresp' }, { cmd: 'pingresp' })
    expect(sent()).toEqual(generate({ cmd: 'pingresp' }))
  })

  it('puts packets together that the broker writes in pieces', () => {
    const { stream, sent } = openLink()
    const packet = encodePublish({
      topic: 'a',
      payload: Buffer.from('xyz'),
      isRetained: false,
      isDuplicate: false,
      messageId: undefined,
    })
    stream.write(packet.subarray(0, 3))
    expect(sent()).toBeNull()
    stream.write(packet.subarray(3))
    expect(sent()).toEqual(packet)
  })

  it('lets nothing overtake the answer to a SUBSCRIBE', async () => {
    const { link, answer, sent } = openLink()
    const subscribing = link.subscribe(3, [
      { topic: 'a', qos: 1 },
      { topic: 'b', qos: 2 },
    ])
    answer({ cmd: 'suback', messageId: 3, granted: [1] }, message(1))
    await new Promise(resolve => setImmediate(resolve))
    answer({ cmd: 'suback', messageId: 3, granted: [128] })
    expect(await subscribing).toEqual([1, 128])
    expect(sent()).toBeNull()
    link.release()
    expect(sent()).toEqual(generate(message(1)))
  })

  it.each([
    ['a client of the host is closed with an error of the broker', false, new Error('away'), 1],
    ['a client of ours stays', true, new Error('away'), 0],
    ['a client of ours is closed where the host closes it', true, undefined, 1],
  ])('%s', async (_case, isOurs, error, count) => {
    const { link, stream, closed } = openLink()
    if (isOurs) link.becomeOurs()
    stream.destroy(error)
    await new Promise(resolve => setImmediate(resolve))
    expect(closed).toHaveLength(count)
  })
})
