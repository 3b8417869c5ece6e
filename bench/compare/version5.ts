import { once } from 'node:events'
import { WebSocket } from 'ws'
import type { ServerProcess } from '../../test/helpers/server-process.ts'
import { connectPacket, takeConnack } from '../load/mqtt-packets.ts'
import { RawConnection } from '../load/raw-connection.ts'
import type { Version } from '../load/writes.ts'
import { host } from '../peers/peer.ts'
import { type Comparison, ratio, type StartContestant } from './comparison.ts'
import { settled } from './loaded.ts'
import { publishing, startProductSide, startRelaySide, tokenOf } from './mqtt-contestants.ts'
import { started } from './product-contestants.ts'

const old = 'version 3.1.1'
const write = { payload: '{"values":[{"key":"temperature","value":21.5}]}' }
const version = 5

/** One for each connection that publishes. */
const topics = topicsOf(10)
const properties = {
  payloadFormatIndicator: true,
  contentType: 'application/json',
  messageExpiryInterval: 3_600,
  userProperties: { room: 'kitchen' },
}

/** 5,000 messages over 2,000 filters, of which each matches one topic. */
const owed = { filters: topicsOf(2_000), messages: 5_000 }
/** Seconds that 5,000 messages may take. */
const deadline = 60
const sessions = { 'clean session': 0, 'persistent session': 600 }

const connections = 10_000
/** Connections before those, which also pay for what there is once. */
const earlier = 1_000
/** Connections that are opened at once. */
const atOnce = 100
/** More than one: a later one collects what finalizers of an earlier one let go. */
const collections = 3
/** Of a CONNACK, bytes. */
const room = 128

/** What version 5 costs beside 3.1.1. */
export const version5: readonly Comparison[] = [
  {
    name: 'MQTT 5, writes',
    unit: 'values/s',
    isClose: true,
    before: { side: old, floor: 0.97 },
    sides: {
      [old]: publishing(startProductSide, write),
      'version 5': publishing(startProductSide, { ...write, version }),
      'version 5, aliases': publishing(startProductSide, { ...write, version, isAliased: true }),
    },
    bars: [ratio('version 5', old, [0.95, 1]), ratio('version 5, aliases', old, [1, 1.1])],
  },
  ...([0, 1] as const).map((qos): Comparison => {
    const relayed = { ...write, topics, qos }
    const watched = { version, subscription: { version, qos } } as const
    return {
      name: `MQTT 5, other topics, QoS ${qos}, 1 subscriber`,
      unit: 'deliveries/s',
      isClose: true,
      before: { side: old, floor: 0.97 },
      sides: {
        [old]: publishing(startRelaySide, { ...relayed, subscription: { qos } }),
        'version 5': publishing(startRelaySide, { ...relayed, ...watched }),
        'version 5, properties': publishing(startRelaySide, { ...relayed, ...watched, properties }),
      },
      // 3.1.1 has no properties: these messages are longer by half, and the properties of each are read and written again.
      bars: [ratio('version 5', old, [0.9, 1]), ratio('version 5, properties', old, [0.7, 0.8])],
    }
  }),
  ...Object.entries(sessions).map(([session, sessionExpiry]): Comparison => {
    const [one, each] = ['one identifier', 'an identifier each']
    return {
      name: `MQTT 5, 2,000 filters, ${session}`,
      unit: 'deliveries/s',
      isClose: true,
      sides: { [one]: identifying('one', sessionExpiry), [each]: identifying('each', sessionExpiry) },
      bars: [{ ...ratio(one, each, [1.5, 1.1]), bound: 'at most' }],
    }
  }),
  {
    name: 'MQTT 5, heap of an idle connection',
    unit: 'bytes',
    sides: { [old]: idleHeap(4), 'version 5': idleHeap(5) },
    bars: [
      {
        measure: `version 5 − ${old}`,
        judged: figures => (figures['version 5'] ?? Number.NaN) - (figures[old] ?? Number.NaN),
        bound: 'at most',
        floor: 1_024,
        aim: 512,
        unit: 'bytes',
      },
    ],
  },
]

/** All of one length. */
function topicsOf(count: number): string[] {
  return Array.from({ length: count }, (_, place) => `tele/d${String(place).padStart(4, '0')}/STATE`)
}

/** Deliveries a second to a client with 2,000 filters, from the first message on, until 5,000 are acked. */
function identifying(identifiers: 'one' | 'each', sessionExpiry: number): StartContestant {
  const { filters, messages } = owed
  return publishing(startRelaySide, {
    ...write,
    topics: filters,
    window: 200,
    version,
    subscription: { version, filters, identifiers, sessionExpiry },
    length: { warmUp: 0, measured: deadline, acks: messages },
  })
}

/** Bytes of live objects and buffers that each of 10,000 connections adds that do nothing, with a credential. */
function idleHeap(version: Version): StartContestant {
  return started(
    async (product, session) => {
      const ends: (() => Promise<void>)[] = []
      const open = async (): Promise<void> => {
        const login = { clientId: `idle-${ends.length}`, username: tokenOf(session, 0), version }
        const connection: RawConnection = new RawConnection({
          ...{ name: login.clientId, host, port: product.port, room },
          onBytes: (bytes, length) => {
            const taken = takeConnack(login, bytes, length)
            if (taken > 0) connection.note('CONNACK')
            return taken
          },
        })
        ends.push(() => connection.end())
        connection.write(connectPacket(login))
        await connection.until('CONNACK')
      }
      const bytesWith = async (count: number): Promise<number> => {
        while (ends.length < count) await Promise.all(Array.from({ length: atOnce }, open))
        await settled(product)
        return await liveBytes(product.server)
      }
      const before = await bytesWith(earlier)
      const growth = (await bytesWith(earlier + connections)) - before
      await Promise.all(ends.map(end => end()))
      return growth / connections
    },
    { NODE_OPTIONS: '--inspect=127.0.0.1:0' },
  )
}

/** What a server keeps that is under the inspector of Node, behind a forced collection. */
async function liveBytes(server: ServerProcess): Promise<number> {
  const [, address = ''] = await server.logged(/^Debugger listening on (\S+)$/m)
  const inspector = new WebSocket(address)
  await once(inspector, 'open')
  const call = async (method: string, params = {}) => {
    inspector.send(JSON.stringify({ id: 1, method, params }))
    const [answer] = await once(inspector, 'message')
    return JSON.parse(String(answer))
  }
  for (let count = 0; count < collections; count++) await call('HeapProfiler.collectGarbage')
  const expression = '(({ heapUsed, external }) => heapUsed + external)(process.memoryUsage())'
  const { result } = await call('Runtime.evaluate', { expression })
  inspector.close()
  return result.result.value
}
