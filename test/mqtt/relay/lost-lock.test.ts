import type { Client } from 'aedes'
import { expect, it, onTestFinished } from 'vitest'
import type { TakenLock } from '../../../src/core/locks.ts'
import { createToken } from '../../../src/core/token.ts'
import { Relay } from '../../../src/mqtt/relay/relay.ts'
import type { RelayedConnection } from '../../../src/mqtt/relay/relayed-connection.ts'
import { createMemoryStore } from '../../../src/store/memory/index.ts'
import { openThings } from '../../../src/things.ts'
import { everything } from './house.ts'

const clientId = 'thing.x:a'

function connectionWith(lock: TakenLock): RelayedConnection {
  return {
    client: { id: clientId } as Client,
    codec: { relayedPayload: payload => payload },
    session: { clientId, isPersistent: true, wasPresent: false },
    lock,
    isConnected: false,
    live: { brokerPackets: { room: () => undefined } },
    broker: { finish: async () => {} },
    close: () => {},
  }
}

it('a connection that ends when another one has its client is no connection of this node any more', async () => {
  const things = await openThings({ store: createMemoryStore(), adminKey: createToken() })
  const defects: unknown[] = []
  const relay = await Relay.open({ ...things, onDefect: error => defects.push(error) })
  onTestFinished(async () => {
    relay.close()
    await things.close()
  })
  const connection = connectionWith(await things.locks.take('client/a'))
  const relayed = await relay.begin(connection, everything, undefined)
  if (!relayed) throw new Error('it may use topics')
  const message = { topic: 'house/a', payload: 'x', qos: 1, retain: false, dup: false } as const
  const place = { brokerId: 'b', brokerCounter: 1 }
  const packet = { cmd: 'publish' as const, messageId: 1, ...message, ...place }
  await relay.persistence.outgoingUpdate(connection.client, packet)
  expect(relay.newest(clientId)).toBe(relayed)
  await things.locks.take('client/a')
  await relay.end(relayed)
  expect(relay.newest(clientId)).toBeUndefined()
  expect(defects).toEqual([])
})
