import type { Client } from 'aedes'
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import type { Nodes } from '../../../src/core/nodes.ts'
import { createToken } from '../../../src/core/token.ts'
import { queuedName, retainedName } from '../../../src/mqtt/relay/documents.ts'
import { Relay } from '../../../src/mqtt/relay/relay.ts'
import { createMemoryStore } from '../../../src/store/memory/index.ts'
import { createThings } from '../../../src/things.ts'
import { everything } from './house.ts'

/** A node of a build that relays topics with every character tells this one of messages. */

const clientId = 'thing.x:a'
const topic = 'house/\r'

afterEach(() => vi.useRealTimers())

async function start() {
  const things = await createThings({ store: createMemoryStore(), adminKey: createToken() })
  let hear: (bytes: Buffer) => void = () => {}
  let changed: (names: readonly string[] | undefined) => void = () => {}
  const { isAlone: _, ...ofStore } = things.nodes
  const nodes: Nodes = {
    ...ofStore,
    self: 'newer',
    alive: async () => new Set(['newer', 'older']),
    send: () => {},
    listen: async listener => {
      hear = bytes => listener(bytes)
      return () => {}
    },
    onDocuments: listener => {
      changed = listener
      return () => {}
    },
  }
  const relay = await Relay.open({ ...things, nodes, onDefect: error => expect.fail(String(error)) })
  onTestFinished(async () => {
    relay.close()
    await things.close()
  })
  const client = { id: clientId } as Client
  const closed: string[] = []
  const relayed = await relay.begin(
    {
      client,
      session: { clientId, isPersistent: true, wasPresent: false },
      hold: await things.holds.take('client/a'),
      isConnected: false,
      live: { brokerPackets: { room: () => undefined } },
      broker: { finish: async () => {} },
      close: error => void closed.push(error.message),
    },
    everything,
    undefined,
  )
  relayed?.subscribe({ filter: 'house/#', qos: 1 })
  for await (const packet of relay.replay(client)) expect.fail(packet.cmd)
  const sent: string[] = []
  relay.bus.on('house/#', (packet, done) => {
    if (relay.forward(client, { ...packet })) sent.push(packet.topic)
    done()
  })
  let number = 0
  const put = async (name: string) => {
    await things.documents.put({ [name]: { topic, payload: 'T04=', qos: 1 } })
    changed([name])
  }
  const tell = (order: number, retain: boolean, on = topic) => {
    const head = { node: 'older', number: ++number, kind: 'message', topic: on, qos: 1, retain }
    hear(Buffer.from(`${JSON.stringify({ ...head, brokerId: 'b', brokerCounter: order })}\nON`))
  }
  return { relay, closed, sent, put, tell }
}

it.each(['behind its document', 'before it'])(
  'one on a topic that clients do not take is not sent, nor missed, where it comes %s',
  async order => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const { closed, sent, put, tell } = await start()
    const name = queuedName(clientId, { order: 1, brokerId: 'b' })
    if (order === 'before it') tell(1, false)
    await put(name)
    if (order === 'behind its document') tell(1, false)
    await vi.advanceTimersByTimeAsync(60_000)
    tell(2, false, 'house/a')
    expect({ sent, closed }).toEqual({ sent: ['house/a'], closed: [] })
  },
)

it('one that is retained on such a topic is none here', async () => {
  const { relay, sent, put, tell } = await start()
  await put(retainedName(topic))
  tell(1, true)
  tell(2, true, 'house/a')
  await relay.catchUp()
  expect(relay.retained(['house/#']).map(message => message.topic)).toEqual(['house/a'])
  expect(sent).toEqual(['house/a'])
})
