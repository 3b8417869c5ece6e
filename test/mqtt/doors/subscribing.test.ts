import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Snapshot } from '../../../src/core/ports.ts'
import type { StoreDriver } from '../../../src/store/contract.ts'
import { alterPuts } from '../../helpers/altered-driver.ts'
import type { Thing } from '../../helpers/http-client.ts'
import { isOf, type MqttClient } from '../../helpers/mqtt-client.ts'
import { DoorService, eventually, reading } from '../door-service.ts'
import { messagesOf, numbers, passed, post, valuesOf, writeAll } from '../messages.ts'

const session = { clientId: 'board', clean: false }

/** What is between a SUBSCRIBE and its last retained message, to be stopped at, or to fail. */
type Point = 'taking the snapshot' | 'keeping the session' | 'reading the snapshot'

/** Counts the snapshots that are open, and stops at one of the points. */
class Watch {
  open = 0
  taken = 0
  #point: Point | undefined
  #arrived = () => {}
  #release = () => {}
  #released: Promise<void> = Promise.resolve()
  #failure: Error | undefined

  /** @returns resolves when somebody is at this point, and waits there */
  stopAt(point: Point, failure?: Error): Promise<void> {
    this.#point = point
    this.#failure = failure
    this.#released = new Promise(resolve => {
      this.#release = resolve
    })
    return new Promise(resolve => {
      this.#arrived = resolve
    })
  }

  release(): void {
    this.#point = undefined
    this.#release()
  }

  alter(store: StoreDriver): void {
    const { records } = store
    const { snapshot } = records
    alterPuts(store, put => async (...given) => {
      const isSession = Object.keys(given[0]).some(name => name.startsWith('mqtt-sessions/'))
      if (isSession) await this.#pass('keeping the session')
      return await put(...given)
    })
    Object.assign(records, {
      snapshot: async () => {
        await this.#pass('taking the snapshot')
        return this.#watch(await snapshot.call(records))
      },
    })
  }

  #watch(snapshot: Snapshot): Snapshot {
    this.open++
    this.taken++
    const pass = () => this.#pass('reading the snapshot')
    const close = async () => {
      await snapshot.close()
      this.open--
    }
    async function* latest(...query: Parameters<Snapshot['latest']>) {
      await pass()
      yield* snapshot.latest(...query)
    }
    return { writeNumber: snapshot.writeNumber, latest, close }
  }

  async #pass(point: Point): Promise<void> {
    if (this.#point !== point) return
    this.#arrived()
    await this.#released
    if (this.#failure) throw this.#failure
  }
}

async function start() {
  const watch = new Watch()
  const service = await DoorService.start({ alter: store => watch.alter(store) })
  const thing = await service.createThing()
  await post(service, thing, reading('before'))
  const subscribe = (client: MqttClient) => {
    const topic = `things/${thing.thingToken}/values/+`
    client.send({ cmd: 'subscribe', messageId: 50, subscriptions: [{ topic, qos: 1 }] })
  }
  return { watch, service, thing, subscribe }
}

/** Whether everything works for others, and nothing is left of who has gone. */
async function expectUnharmed(service: DoorService, thing: Thing, watch: Watch): Promise<void> {
  const other = await service.connectThing(thing)
  await other.subscribe(`things/${thing.thingId}/values/+`)
  await writeAll(service, thing, ...numbers(3))
  await passed(service, thing, other)
  expect(valuesOf(other, 'n').slice(-3)).toEqual(numbers(3))
  await other.disconnect()
  await eventually(async () => watch.open).toBe(0)
}

const points: readonly Point[] = ['taking the snapshot', 'keeping the session', 'reading the snapshot']

describe.each(points)('a connection that ends while its SUBSCRIBE is %s', point => {
  it.each([
    ['DISCONNECT', (client: MqttClient) => client.disconnect()],
    ['the end of its socket', (client: MqttClient) => client.destroy()],
  ])('leaves no snapshot and no subscriber behind: with %s', async (_way, end) => {
    const { watch, service, thing, subscribe } = await start()
    for (const isPersistent of [true, false]) {
      if (!isPersistent && point === 'keeping the session') continue
      const client = await service.connectThing(thing, isPersistent ? session : {})
      const arrived = watch.stopAt(point)
      subscribe(client)
      await arrived
      // What waits in the sequencer, and behind the gap.
      await writeAll(service, thing, 'while it waits')
      const ended = end(client)
      await delay(20)
      watch.release()
      await ended
      await expectUnharmed(service, thing, watch)
    }
    await service.stop()
    expect(watch.open).toBe(0)
  })

  it('in that its session is taken over leaves it to the new one', async () => {
    const { watch, service, thing, subscribe } = await start()
    const marks = `things/${thing.thingId}/values/mark`
    const first = await service.connectThing(thing, session)
    await first.subscribe(marks)
    await passed(service, thing, first)
    const arrived = watch.stopAt(point)
    subscribe(first)
    await arrived
    const connecting = service.connectThing(thing, session)
    await delay(20)
    watch.release()
    const second = await connecting
    await first.untilClosed()
    expect(second.connack.sessionPresent).toBe(true)
    expect(await second.subscribe(`things/${thing.thingId}/values/n`)).toBe(1)
    await writeAll(service, thing, 1, 2)
    await passed(service, thing, second)
    const live = messagesOf(second, '/n').filter(({ retain }) => !retain)
    expect(live.map(({ payload }) => JSON.parse(payload).value)).toEqual([1, 2])
    await second.disconnect()
    await expectUnharmed(service, thing, watch)
  })

  it('in that the service stops does not hold it up', async () => {
    const { watch, service, thing, subscribe } = await start()
    const client = await service.connectThing(thing, session)
    const arrived = watch.stopAt(point)
    subscribe(client)
    await arrived
    const stopped = service.stop()
    await delay(20)
    watch.release()
    await stopped
    await client.untilClosed()
    expect(watch.open).toBe(0)
    const again = await service.restart()
    const back = await again.connectThing(thing, session)
    expect(back.connack).toMatchObject({ returnCode: 0, sessionPresent: true })
  })
})

describe.each(points)('a SUBSCRIBE of which %s fails', point => {
  it('closes the connection and harms nobody else; the client may come again', async () => {
    const { watch, service, thing, subscribe } = await start()
    const client = await service.connectThing(thing, session)
    const arrived = watch.stopAt(point, new Error('of the test'))
    subscribe(client)
    await arrived
    watch.release()
    await client.untilClosed()
    expect(messagesOf(client)).toEqual([])
    await expectUnharmed(service, thing, watch)
    const again = await service.connectThing(thing, session)
    expect(await again.subscribe(`things/${thing.thingId}/values/+`)).toBe(1)
    await passed(service, thing, again)
    expect(valuesOf(again, 'n').at(-1)).toBe(2)
  })
})

describe('while the store is away', () => {
  it('SUBSCRIBE closes the connection', async () => {
    const { watch, service, thing, subscribe } = await start()
    const clients = [
      await service.connectThing(thing, session),
      await service.connect(),
      await service.connect({ username: 'operator', password: service.adminKey }),
    ]
    await service.things.close()
    for (const client of clients) {
      subscribe(client)
      await client.untilClosed()
      const subacks = client.received.filter(isOf('suback'))
      expect(subacks.flatMap(({ granted }) => granted).filter(code => code !== 128)).toEqual([])
    }
    expect(watch.open).toBe(0)
  })
})
