import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { Aedes, type AedesOptions } from 'aedes'
import { onTestFinished } from 'vitest'
import { createToken } from '../../../src/core/token.ts'
import { createMemoryStore } from '../../../src/store/memory/index.ts'
import { openThings } from '../../../src/things.ts'
import type { ConnectOptions, MqttClient } from '../../helpers/mqtt-client.ts'
import { mqttOfTest } from '../../helpers/of-test.ts'

export type OwnHost = Awaited<ReturnType<typeof openOwnHost>>

const hookNames = [
  'preConnect',
  'authenticate',
  'authorizePublish',
  'authorizeSubscribe',
  'authorizeForward',
  'published',
] as const

/** Users of the host, and nobody else, may connect; they may publish and subscribe on all but `closed/…`. */
const rules: AedesOptions = {
  id: 'plant',
  authenticate: (_client, username, password, done) => {
    done(null, username === undefined || password?.toString() === `${username} password`)
  },
  authorizePublish: (_client, packet, done) => {
    done(packet.topic.startsWith('closed/') ? new Error('not for you') : null)
  },
  authorizeSubscribe: (_client, subscription, done) => {
    done(null, subscription.topic.startsWith('closed/') ? null : subscription)
  },
}

/** A broker with topics and rules of its own, a Thingwire beside it with one thing; not yet attached. */
export async function openOwnHost() {
  const broker = await Aedes.createBroker(rules)
  /** Every call of a hook since the start, in order. */
  const calls = recordHooks(broker)
  const things = await openThings({ store: createMemoryStore(), adminKey: createToken() })
  const servers: ReturnType<typeof createServer>[] = []
  onTestFinished(async () => {
    for (const server of servers) server.close()
    await new Promise<void>(resolve => broker.close(resolve))
    await things.close()
  })
  /** Serves `broker.handle` as it is now. To be called after attaching. @returns `mqtt://<host>:<port>` */
  const serve = async () => {
    const server = createServer(broker.handle)
    servers.push(server)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return `mqtt://127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  /** Resolves when the next connection has been given to the broker. */
  const nextConnection = () => Promise.race(servers.map(server => once(server, 'connection')))
  return { broker, things, ...(await things.registry.create({})), calls, serve, nextConnection }
}

/** The connection of one of the host's users, which ends with the test. */
export function connectUser(url: string, name: string, options: ConnectOptions = {}): Promise<MqttClient> {
  const user = { clientId: name, username: name, password: `${name} password` }
  return mqttOfTest({ url, ...user, ...options })
}

/** A write of one record, measured at second `value` (0..9) of a day. */
export function depth(value: number) {
  return { values: [{ key: 'depth', value, datetime: `2026010100000${value}` }] }
}

/** The values of all records that `depth` has written, newest first. */
export async function storedDepths({ things, thingId }: OwnHost): Promise<unknown[]> {
  const page = await things.records.read(thingId, 'depth', { order: 'desc', limit: 1000 })
  return page?.records.map(({ value }) => JSON.parse(value)) ?? []
}

/** Everything that is called on a broker and could have been replaced. */
export function functionsOf(broker: Aedes) {
  const { persistence, mq, opts, maxClientsIdLength } = broker as unknown as Record<string, object>
  const own = (part: object | undefined) =>
    Object.fromEntries(Object.entries(part ?? {}).filter(([, value]) => typeof value === 'function'))
  const listeners = broker.eventNames().map(name => [name, broker.rawListeners(name)])
  return {
    broker: own(broker),
    persistence: own(persistence),
    emitter: own(mq),
    options: { ...opts },
    maxClientsIdLength,
    listeners,
  }
}

/** `onBroker`: whether `this` was the broker, as Aedes calls it; `given`: in a form that can be compared. */
function recordHooks(broker: Aedes) {
  const calls: { hook: string; onBroker: boolean; given: unknown[] }[] = []
  for (const hook of hookNames) {
    const rule: unknown = broker[hook]
    if (typeof rule !== 'function') throw new Error(`this Aedes has no hook ${hook}`)
    Reflect.set(broker, hook, function (this: unknown, ...given: unknown[]): unknown {
      calls.push({ hook, onBroker: this === broker, given: given.map(comparable) })
      return Reflect.apply(rule, this, given)
    })
  }
  return calls
}

/** What differs from run to run. */
const volatile = new Set(['brokerCounter', 'messageId'])

/** The id of a client that gave none. */
const randomId = /aedes_[0-9a-f-]{36}/g

function comparable(value: unknown): unknown {
  if (typeof value === 'function') return 'a callback'
  if (Buffer.isBuffer(value)) return `bytes: ${value}`.replaceAll(randomId, 'a random id')
  if (typeof value !== 'object' || value === null) return value
  if ('conn' in value && 'id' in value) return `the client ${value.id}`.replace(randomId, 'a random id')
  if (Array.isArray(value)) return value.map(comparable)
  const members = Object.entries(value).filter(([name]) => !volatile.has(name))
  return Object.fromEntries(members.map(([name, member]) => [name, comparable(member)]))
}
