import { stat, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createLevelStore } from '../../../src/store/level/index.ts'
import { write } from '../../helpers/http-client.ts'
import type { ConnectOptions, MqttClient } from '../../helpers/mqtt-client.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'
import { smallFileSystem } from '../../machine-fault/small-file-system.ts'
import { DoorService, eventually } from '../door-service.ts'
import { everything, textOn } from './house.ts'

const MiB = 1024 * 1024
const topics = ['house/#']
/** Wanted by a session that is away. */
const owed = 'house/owed/a'

/** Starts a server again whose disk has become as the test wants it. */
type Shorten = (service: DoorService) => Promise<DoorService>

const disks: Record<string, () => Promise<{ dataDir: string; shorten: Shorten }>> = {
  'shorter than minFreeSpace': async () => {
    const dataDir = await temporaryDirectory()
    const store = () =>
      createLevelStore({ location: join(dataDir, 'store'), minFreeSpace: Number.MAX_SAFE_INTEGER })
    return { dataDir, shorten: service => service.restart({ topics, store: store() }) }
  },
  full: async () => {
    const { path: dataDir } = await smallFileSystem('tmpfs', 64 * MiB, onTestFinished)
    const shorten: Shorten = async service => {
      const reserve = join(dataDir, 'store', 'RESERVE')
      await vi.waitFor(async () => expect((await stat(reserve)).size).toBe(8 * MiB), { timeout: 60_000 })
      await service.stop()
      const { bavail, bsize } = await statfs(dataDir)
      await writeFile(join(dataDir, 'filler'), Buffer.alloc(bavail * bsize - MiB))
      return await service.restart({ topics })
    }
    return { dataDir, shorten }
  },
}

const attempts = 1_000
const attemptsAtOnce = 20

/** Messages that would be kept: for a session that is away, as retained, or both; each published, and as a will. */
const kinds = ([1, 2] as const).flatMap(qos =>
  [
    { topic: owed, qos, retain: false },
    { topic: owed, qos, retain: true },
    { topic: 'house/one', qos, retain: true },
    { topic: 'house/new', qos, retain: true },
  ].flatMap(message => [
    { ...message, isWill: false },
    { ...message, isWill: true },
  ]),
)

type Connect = (options: ConnectOptions) => Promise<MqttClient>

/** Tries each kind in turn, in connections of its own. @returns how many publishes were acknowledged */
async function acked(connect: Connect): Promise<number> {
  let [tried, count] = [0, 0]
  const tryOn = async () => {
    while (tried < attempts) {
      const { isWill, topic, ...options } = kinds[tried % kinds.length] as (typeof kinds)[number]
      const [clientId, payload] = [`tries-${tried}`, `more ${tried}`]
      tried++
      if (isWill) await dropWill(connect, clientId, { topic, payload, ...options })
      else {
        const client = await connect({ clientId })
        await client.publish(topic, payload, options).then(
          () => count++,
          () => client.untilClosed(),
        )
      }
    }
  }
  await Promise.all(Array.from({ length: attemptsAtOnce }, tryOn))
  return count
}

/** The will of a connection that another one takes over is dealt with before CONNACK. */
async function dropWill(connect: Connect, clientId: string, will: ConnectOptions['will']): Promise<void> {
  await connect({ clientId, ...(will && { will }) })
  const next = await connect({ clientId })
  expect(next.connack.returnCode).toBe(0)
  await next.takeLeave()
}

describe.each(Object.entries(disks))('a server whose disk is %s', (_, openDisk) => {
  it('refuses messages that it would keep, and sessions end, queues come, things are removed', async () => {
    const { dataDir, shorten } = await openDisk()
    const wide = await DoorService.start({ dataDir, topics })
    const { sessionToken: password } = await wide.things.sessions.create([], {
      access: 'read',
      topics: everything,
    })
    const as = (clientId: string, options: ConnectOptions = {}) => ({
      ...{ username: 'x', password, clientId, clean: false, ...options },
    })
    for (const clientId of ['comes', 'ends']) {
      const client = await wide.connect(as(clientId))
      await client.subscribe('house/owed/#', 2)
      await client.takeLeave()
    }
    const publisher = await wide.connect(as('publisher'))
    await publisher.publish(owed, 'at 1')
    await publisher.publish(owed, 'at 2', { qos: 2 })
    for (const topic of ['house/one', 'house/two']) await publisher.publish(topic, 'kept', { retain: true })
    const unreleased = await publisher.publishUntilPubrec(owed, 'to be released')
    await publisher.takeLeave()
    const [gone, cut] = [await wide.createThing(), await wide.createThing()]
    const writer = {
      clientId: 'device',
      will: { topic: `things/${cut.thingToken}/write`, payload: { values: [{ key: 'away', value: 1 }] } },
    }
    await (await wide.connectThing(cut, { clientId: 'device', clean: false })).takeLeave()

    const queued = await wide.documents('topic-queue/')
    const retained = await wide.documents('topic-retained/')
    expect(retained).toHaveLength(2)

    const service = await shorten(wide)
    // Refused as a write is: not acknowledged, and the connection closed.
    expect(await acked(options => service.connect({ username: 'x', password, ...options }))).toBe(0)
    // Of the two sessions, what they were owed before.
    expect(await service.documents('topic-queue/')).toEqual(queued)
    expect(await service.documents('topic-retained/')).toEqual(retained)
    expect(await service.documents('mqtt-wills/')).toEqual([])
    expect((await write(service, cut, { values: [{ key: 'a', value: 1 }] })).status).toBe(503)
    const fresh = await service.connect(as('fresh'))
    expect(fresh.connack.returnCode).toBe(3)

    // What is kept for nobody is passed on.
    const live = await service.connect(as('live', { clean: true }))
    await live.subscribe('house/live', 1)
    const back = await service.connect(as('publisher'))
    expect(back.connack).toMatchObject({ returnCode: 0, sessionPresent: true })
    await back.release(unreleased)
    for (const qos of [0, 1, 2] as const) {
      await back.publish('house/live', `live ${qos}`, { qos })
      expect(await textOn(live, 'house/live')).toBe(`live ${qos}`)
    }

    // A retained message goes.
    await back.publish('house/one', '', { retain: true })
    await back.publish('house/two', '', { retain: true, qos: 2 })
    expect(await service.documents('topic-retained/')).toEqual([])

    // More filters are not kept, nor with the session at its end; those that it has may be named again.
    const comes = await service.connect(as('comes'))
    expect(comes.connack.sessionPresent).toBe(true)
    for (const text of ['at 1', 'at 2', 'to be released']) expect(await textOn(comes, owed)).toBe(text)
    // The other client is still owed the three.
    await eventually(() => service.documents('topic-queue/')).toHaveLength(3)
    await comes.subscribe('house/owed/#', 2)
    comes.send({ cmd: 'subscribe', messageId: 100, subscriptions: [{ topic: 'house/live', qos: 1 }] })
    await comes.untilClosed()
    await back.publish('house/live', 'kept for nobody')
    const again = await service.connect(as('comes'))
    await again.ping()
    await again.takeLeave()
    expect(again.received.filter(({ cmd }) => cmd === 'publish')).toEqual([])

    // A session ends, and what was kept for it.
    await (await service.connect(as('ends', { clean: true }))).takeLeave()
    expect(await service.documents('topic-queue/')).toEqual([])
    expect(await service.documents('topic-sessions/')).toHaveLength(1)

    // A client is let in again, though the will of the connection that it has lost cannot be stored.
    const lost = await service.connectThing(cut, { ...writer, clean: false })
    expect(lost.connack.returnCode).toBe(0)
    const device = await service.connectThing(cut, { ...writer, clean: false })
    expect(device.connack).toMatchObject({ returnCode: 0, sessionPresent: true })
    await device.takeLeave()
    expect(await service.documents('mqtt-wills/')).toEqual([])
    expect(await service.things.refused.list(cut.thingId, 1)).toMatchObject([{ reason: 'store_full' }])

    const { registry, sessions } = service.things
    await registry.remove(gone.thingId)
    const [token] = await registry.tokens(cut.thingId)
    await registry.removeToken(cut.thingId, token?.tokenId ?? '')
    expect((await service.connectThing(cut)).connack.returnCode).toBe(4)
    const [session] = (await sessions.list({ limit: 1 })).sessions
    await sessions.remove(session?.sessionId ?? '')
    expect(await service.documents('things/')).toHaveLength(1)
  })
})
