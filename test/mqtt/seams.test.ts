import { once } from 'node:events'
import type { Aedes, Client } from 'aedes'
import { describe, expect, test } from 'vitest'
import { encodePackets, isMessageOn, isOf, publishPacket } from '../helpers/mqtt-client.ts'
import { accept, connectPacket, openBroker, watch } from './stock-aedes.ts'

/**
 * What src/mqtt/aedes-seams.ts takes for granted of how Aedes reads a connection and is not documented API, one fact a
 * test, on an Aedes that nothing was attached to. What fails here after an upgrade says which seam has to be looked at;
 * hook-seams.test.ts has the same for fields, hooks and persistence.
 */

describe('handle()', () => {
  test('returns the client before anything is read', async () => {
    let read: number | undefined
    const { client } = await accept(await openBroker(), ({ conn }) => {
      read = (conn as { bytesRead?: number }).bytesRead
    })
    expect(read).toBe(0)
    expect(client.id).toBeNull()
  })

  test('leaves one listener for packets on the parser, which finds its client there', async () => {
    const { client, internals } = await accept(await openBroker())
    expect(internals._parser.listeners('packet')).toHaveLength(1)
    expect(Reflect.get(internals._parser, 'client')).toBe(client)
  })

  test('reads the connection with _nextBatch when there is something, and with nothing else', async () => {
    const { client, peer } = await accept(await openBroker(), ({ conn }, { _nextBatch }) => {
      expect(conn.listeners('readable')).toEqual([_nextBatch])
      conn.removeListener('readable', _nextBatch)
    })
    const readable = once(client.conn, 'readable')
    peer.send(connectPacket)
    await readable
    expect(client.conn.read()).toEqual(encodePackets(connectPacket))
    expect(client.connecting).toBe(false)
  })
})

describe('the packet listener', () => {
  test('takes a packet at once if no other is counted in _parsingBatch', async () => {
    const { client, internals, peer } = await accept(await openBroker())
    internals._parsingBatch = 0
    pass(client, connectPacket)
    expect(client.connecting).toBe(true)
    expect(await peer.next(isOf('connack'))).toMatchObject({ returnCode: 0 })
  })

  test('queues what comes before CONNACK, and so needs packets to be held back until then', async () => {
    const { client, internals, peer } = await accept(await openBroker())
    internals._parsingBatch = 0
    pass(client, connectPacket)
    pass(client, { cmd: 'pingreq' })
    expect(Reflect.get(internals._parser, '_queue')).toHaveLength(1)
    await peer.next(isOf('pingresp'))
  })

  test('has _nextBatch, as it is at that moment, called when the packet is dealt with', async () => {
    const broker = await openBroker()
    let authorised = () => {}
    broker.authorizePublish = (_client, _packet, done) => {
      authorised = () => done(null)
    }
    const { client, internals, peer } = await connected(broker)
    const done = new Promise<unknown[]>(resolve => {
      internals._nextBatch = (...given) => resolve(given)
    })
    pass(client, publishPacket('a', '1', { messageId: 1 }))
    internals._nextBatch = () => {}
    authorised()
    expect((await done)[0]).toBeFalsy()
    await peer.next(isOf('puback', 1))
  })

  test('has _nextBatch called after CONNACK for a CONNECT, when the client is ready', async () => {
    const { client, peer } = await accept(await openBroker(), (client, internals) => {
      const { _nextBatch } = internals
      internals._nextBatch = error => {
        if (client.connected) client.emit('connect dealt with')
        _nextBatch(error)
      }
    })
    const dealtWith = once(client, 'connect dealt with')
    await peer.connect()
    await dealtWith
  })

  test('has _nextBatch called with the error of a packet that failed', async () => {
    const { client, internals, peer } = await connected(await openBroker())
    const calls = watch(internals, '_nextBatch')
    pass(client, connectPacket)
    expect(calls).toEqual([[expect.any(Error)]])
    await peer.closed
  })
})

describe('a client', () => {
  test('is paused while it is authenticated, then resumed by the resume() that is found on it', async () => {
    const broker = await openBroker()
    let authenticated = () => {}
    const asked = new Promise<void>(resolve => {
      broker.authenticate = (_client, _username, _password, done) => {
        authenticated = () => done(null, true)
        resolve()
      }
    })
    const { internals, peer } = await accept(broker)
    const calls = watch(internals, 'resume')
    const connected = peer.connect()
    await asked
    expect(internals._paused).toBe(true)
    expect(calls).toHaveLength(0)
    authenticated()
    await connected
    await peer.ping()
    expect(calls).toHaveLength(1)
    expect(internals._paused).toBe(false)
  })

  test('has its broker, which emits the packet and the client when CONNACK is sent', async () => {
    const broker = await openBroker()
    const { client, peer } = await accept(broker)
    expect(Reflect.get(client, 'broker')).toBe(broker)
    const sent = once(broker, 'connackSent')
    await peer.connect()
    expect(await sent).toEqual([expect.objectContaining({ cmd: 'connack', returnCode: 0 }), client])
  })

  test('has resume() from its prototype', async () => {
    const { client } = await accept(await openBroker())
    expect(Object.hasOwn(client, 'resume')).toBe(false)
    expect(Object.hasOwn(client, '_nextBatch')).toBe(true)
  })

  test('reads on when _nextBatch is called while _parsingBatch is 1', async () => {
    const { client, internals, peer } = await accept(await openBroker())
    await peer.connect()
    await peer.ping()
    client.conn.removeListener('readable', internals._nextBatch)
    const readable = once(client.conn, 'readable')
    peer.send({ cmd: 'pingreq' })
    await readable
    internals._parsingBatch = 1
    internals._nextBatch()
    await peer.next(isOf('pingresp'))
  })

  test('has a keep-alive timer if CONNECT names a keep-alive', async () => {
    const without = await accept(await openBroker())
    await without.peer.connect({ keepalive: 0 })
    expect(without.internals._keepaliveTimer).toBeNull()
    const { internals, peer } = await accept(await openBroker())
    await peer.connect({ keepalive: 1 })
    expect(internals._keepaliveTimer?.refresh).toBeTypeOf('function')
  })

  test('is found silent by that timer alone, which can be begun again', async () => {
    const broker = await openBroker()
    const { internals, peer } = await accept(broker)
    await peer.connect({ keepalive: 1 })
    const order: string[] = []
    const found = once(broker, 'keepaliveTimeout').then(() => order.push('found silent'))
    // One and a half keep-alives after CONNECT it would be found silent.
    setTimeout(() => internals._keepaliveTimer?.refresh(), 1_000)
    setTimeout(() => order.push('not found silent'), 1_600)
    await found
    expect(order).toEqual(['not found silent', 'found silent'])
  })

  test('has in _nextId the packet id that it gives to the next message, 1 behind 65,535', async () => {
    const { internals, peer } = await accept(await openBroker())
    expect(internals._nextId).toBeGreaterThanOrEqual(1)
    expect(internals._nextId).toBeLessThanOrEqual(65_535)
    await peer.connect()
    await peer.subscribe('a')
    internals._nextId = 65_534
    const ids: (number | undefined)[] = []
    for (const value of ['1', '2', '3']) {
      await peer.publish('a', value)
      ids.push((await peer.next(isMessageOn('a'))).messageId)
    }
    expect(ids).toEqual([65_534, 65_535, 1])
    expect(internals._nextId).toBe(2)
  })

  test('stays connected when it acknowledges a packet id that Aedes does not know', async () => {
    const { peer } = await accept(await openBroker())
    await peer.connect({ clean: false })
    peer.send({ cmd: 'puback', messageId: 4711 })
    await peer.ping()
  })

  test('takes away who listens for packets and bytes when it is closed', async () => {
    const { client, internals, peer } = await accept(await openBroker())
    await peer.connect()
    await new Promise<void>(resolve => client.close(resolve))
    expect(internals._parser.listeners('packet')).toEqual([])
    expect(client.conn.listeners('readable')).toEqual([])
  })

  test('is closed by an error that is emitted on it', async () => {
    const { client, peer } = await accept(await openBroker())
    await peer.connect()
    client.emit('error', new Error('of our own'))
    await peer.closed
    expect(client.closed).toBe(true)
  })
})

describe('the parser', () => {
  test('has the methods for header, length and content from its prototype', async () => {
    const { internals } = await accept(await openBroker())
    for (const method of ['_parseHeader', '_parseLength', '_parsePayload']) {
      expect(Object.hasOwn(internals._parser, method)).toBe(false)
    }
  })

  test('asks the _parseHeader that is found on it before each packet, and stops if it says no', async () => {
    const { internals, peer } = await accept(await openBroker())
    await peer.connect()
    const { _parser: parser } = internals
    const asked = watch(parser, '_parseHeader')
    const two = encodePackets({ cmd: 'pingreq' }, { cmd: 'pingreq' })
    parser.parse(two)
    expect(asked).toHaveLength(2)
    parser._parseHeader = () => false
    expect(parser.parse(two)).toBe(two.length)
    expect(parser._list.slice()).toEqual(two)
    parser._list.consume(two.length)
    Reflect.deleteProperty(parser, '_parseHeader')
    expect(parser.parse(two)).toBe(0)
    for (let answer = 0; answer < 4; answer++) await peer.next(isOf('pingresp'))
  })

  test('counts in _stateCounter how far a packet has come, 0 between two, and holds its bytes in _list', async () => {
    const { internals, peer } = await accept(await openBroker())
    await peer.connect()
    const { _parser: parser } = internals
    const packet = encodePackets(publishPacket('a', 'payload', { qos: 0 }))
    expect(Reflect.get(parser, '_stateCounter')).toBe(0)
    for (const [end, held] of [
      [1, 0],
      [2, 0],
      [5, 3],
    ] as const) {
      parser.parse(packet.subarray(end === 5 ? 2 : end - 1, end))
      expect(Reflect.get(parser, '_stateCounter')).toBeGreaterThan(0)
      expect(parser._list.length).toBe(held)
    }
    parser.parse(packet.subarray(5))
    expect(Reflect.get(parser, '_stateCounter')).toBe(0)
  })

  test('begins anew with bytes that were taken from _list and are given back to the connection', async () => {
    const { client, internals, peer } = await connected(await openBroker())
    const { _parser: parser } = internals
    const stopped = new Promise<void>(resolve => {
      parser._parseHeader = () => {
        resolve()
        return false
      }
    })
    peer.send({ cmd: 'pingreq' })
    await stopped
    Reflect.deleteProperty(parser, '_parseHeader')
    const bytes = parser._list.slice()
    parser._list.consume(bytes.length)
    client.conn.unshift(bytes)
    internals._parsingBatch = 1
    internals._nextBatch()
    await peer.next(isOf('pingresp'))
  })

  test('has the announced length from the _parseLength that is found on it, before the rest is there', async () => {
    const { internals, peer } = await accept(await openBroker())
    await peer.connect()
    const { _parser: parser } = internals
    const lengths: [boolean, number][] = []
    const parseLength = parser._parseLength
    parser._parseLength = () => {
      const isWhole = parseLength.call(parser)
      lengths.push([isWhole, parser.packet.length])
      return isWhole
    }
    const publish = encodePackets(publishPacket('a', Buffer.alloc(300), { qos: 0 }))
    parser.parse(publish.subarray(0, 2))
    parser.parse(publish.subarray(2, 3))
    expect(lengths).toEqual([
      [false, -1],
      [true, 303],
    ])
  })

  test('has the first byte at place 0 of _list when it asks the _parseHeader that is found on it', async () => {
    const { internals, peer } = await accept(await openBroker())
    await peer.connect()
    const { _parser: parser } = internals
    const firstBytes: number[] = []
    const parseHeader = parser._parseHeader
    parser._parseHeader = () => {
      firstBytes.push(parser._list.get(0))
      return parseHeader.call(parser)
    }
    parser.parse(encodePackets({ cmd: 'pingreq' }, publishPacket('a', 'b', { qos: 0 }), { cmd: 'pingreq' }))
    expect(firstBytes).toEqual([0xc0, 0x30, 0xc0])
  })

  test('has the content at place 0 of _list when it asks the _parsePayload that is found on it, and stops if it says no', async () => {
    const { internals, peer } = await accept(await openBroker())
    await peer.connect()
    const { _parser: parser } = internals
    const packets: unknown[] = []
    parser.on('packet', packet => packets.push(packet))
    const contents: string[] = []
    const { _parsePayload: parsePayload } = parser
    parser._parsePayload = () => {
      const { packet, _list: list } = parser
      contents.push(list.slice(0, packet.length).toString('latin1'))
      return contents.length < 3 && parsePayload.call(parser)
    }
    const publish = encodePackets(publishPacket('a', 'bc', { qos: 0 }))
    parser.parse(publish.subarray(0, 5))
    parser.parse(Buffer.concat([publish.subarray(5), publish, publish]))
    expect(contents).toEqual(['\0\x01a', '\0\x01abc', '\0\x01abc'])
    expect(packets).toHaveLength(1)
  })

  test('closes the connection and parses nothing more after _emitError', async () => {
    const { client, internals, peer } = await accept(await openBroker())
    await peer.connect()
    const { _parser: parser } = internals
    const packets: unknown[] = []
    parser.on('packet', packet => packets.push(packet))
    parser._parseLength = () => {
      parser._emitError(new Error('too large'))
      return false
    }
    parser.parse(encodePackets({ cmd: 'pingreq' }, { cmd: 'pingreq' }))
    await peer.closed
    expect(client.closed).toBe(true)
    expect(packets).toEqual([])
  })
})

/** A connection that no more has its CONNECT to deal with. */
async function connected(broker: Aedes) {
  const ready = once(broker, 'clientReady')
  const accepted = await accept(broker)
  await accepted.peer.connect()
  await ready
  return accepted
}

/** Hands a packet to Aedes as if its parser had found it. */
function pass(client: Client, packet: object): void {
  const { _parser: parser } = client as unknown as { _parser: NodeJS.EventEmitter }
  parser.emit('packet', packet)
}
