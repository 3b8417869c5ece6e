import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { StoreDriver } from '../../../src/store/contract.ts'
import { alterPuts } from '../../helpers/altered-driver.ts'
import { isOf, type MqttClient } from '../../helpers/mqtt-client.ts'
import { DoorService } from '../door-service.ts'
import { messagesOf, nextOn, numbers, passed, valuesOf, writeAll } from '../messages.ts'

const session = { clientId: 'board', clean: false }

/** Holds back what is put of sessions, once it is asked to. */
class HeldPuts {
  #isHolding = false
  readonly #held: (() => void)[] = []
  readonly #awaited: (() => void)[] = []

  alter(store: StoreDriver): void {
    alterPuts(store, put => async (...given) => {
      const isSession = Object.keys(given[0]).some(name => name.startsWith('mqtt-sessions/'))
      if (this.#isHolding && isSession) {
        await new Promise<void>(resolve => {
          this.#held.push(resolve)
          for (const tell of this.#awaited.splice(0)) tell()
        })
      }
      return await put(...given)
    })
  }

  hold(): void {
    this.#isHolding = true
  }

  /** Resolves when so many are held back. */
  async until(count: number): Promise<void> {
    while (this.#held.length < count) await new Promise<void>(resolve => this.#awaited.push(resolve))
  }

  releaseAll(): void {
    this.#isHolding = false
    for (const release of this.#held.splice(0)) release()
  }
}

async function start() {
  const puts = new HeldPuts()
  const service = await DoorService.start({ alter: store => puts.alter(store) })
  onTestFinished(() => puts.releaseAll())
  const thing = await service.createThing()
  const first = await service.connectThing(thing, session)
  await first.subscribeAll([`things/${thing.thingId}/values/n`, `things/${thing.thingId}/values/mark`])
  await passed(service, thing, first)
  return { puts, service, thing, first }
}

/** The connection that `connecting` resolves with once the session it finds being left is kept as in use. */
async function found(puts: HeldPuts, connecting: Promise<MqttClient>): Promise<MqttClient> {
  let isAnswered = false
  void connecting.then(() => {
    isAnswered = true
  })
  await puts.until(2)
  expect(isAnswered).toBe(false)
  puts.releaseAll()
  const client = await connecting
  puts.hold()
  return client
}

describe('a session that is left, found again and left while it is still being kept', () => {
  it('has forgotten nothing of its last visit', async () => {
    const { puts, service, thing, first } = await start()
    puts.hold()
    await first.disconnect()
    await puts.until(1)
    const second = await found(puts, service.connectThing(thing, session))
    await writeAll(service, thing, 1, 2)
    for (const value of [1, 2]) expect(JSON.parse((await nextOn(second, '/n')).payload).value).toBe(value)
    await second.ping()
    await second.disconnect()
    await puts.until(1)
    const third = await found(puts, service.connectThing(thing, session))
    expect(third.connack.sessionPresent).toBe(true)
    await writeAll(service, thing, 3)
    await passed(service, thing, third)
    expect(valuesOf(third, 'n')).toEqual([3])
  })

  it('is kept as one in use before it is answered', async () => {
    const { puts, service, thing, first } = await start()
    puts.hold()
    await first.disconnect()
    await puts.until(1)
    await found(puts, service.connectThing(thing, session))
    const kept = await service.things.documents.list('mqtt-sessions/', { limit: 2 })
    expect(kept.map(([_name, document]) => document)).toEqual([expect.objectContaining({ isInUse: true })])
  })

  it('owes what its last visit has not acknowledged, with DUP', async () => {
    const { puts, service, thing, first } = await start()
    puts.hold()
    await first.disconnect()
    await puts.until(1)
    const deaf = await found(
      puts,
      service.connect({ acknowledges: false, username: thing.thingToken, ...session }),
    )
    await writeAll(service, thing, 1)
    const { messageId } = await deaf.next(isOf('publish'))
    await deaf.destroy()
    await puts.until(1)
    const third = await found(puts, service.connectThing(thing, session))
    const again = await third.next(isOf('publish'))
    expect([again.messageId, again.dup]).toEqual([messageId, true])
  })
})

describe('a session that is taken over before its SUBSCRIBE is kept', () => {
  it('is subscribed, or not, but never hangs', async () => {
    const { puts, service, thing, first } = await start()
    puts.hold()
    const filter = `things/${thing.thingId}/values/other`
    first.send({ cmd: 'subscribe', messageId: 77, subscriptions: [{ topic: filter, qos: 1 }] })
    await puts.until(1)
    const connecting = service.connectThing(thing, session)
    await first.untilClosed()
    puts.releaseAll()
    const second = await connecting
    await writeAll(service, thing, ...numbers(3))
    await passed(service, thing, second)
    expect(valuesOf(second, 'n')).toEqual(numbers(3))
    expect(await second.subscribe(filter)).toBe(1)
    await second.disconnect()
    const third = await service.connectThing(thing, session)
    await passed(service, thing, third)
    expect(messagesOf(third, '/n')).toEqual([])
  })
})

describe('a CONNECT with clean=true', () => {
  const orders = {
    'while the session before it is being kept': 'subscribe first',
    'before which the session is kept once more': 'connect first',
  } as const

  it.each(Object.entries(orders))('leaves none: %s', async (_name, order) => {
    const { puts, service, thing, first } = await start()
    puts.hold()
    const filter = `things/${thing.thingId}/values/other`
    const subscribe = () =>
      first.send({ cmd: 'subscribe', messageId: 77, subscriptions: [{ topic: filter, qos: 1 }] })
    const connect = () => service.connectThing(thing, { ...session, clean: true })
    let connecting: ReturnType<typeof connect>
    if (order === 'subscribe first') {
      subscribe()
      await puts.until(1)
      connecting = connect()
    } else {
      connecting = connect()
      await puts.until(1)
      subscribe()
      await Promise.race([puts.until(2), first.closed, delay(500)])
    }
    setImmediate(() => puts.releaseAll())
    const clean = await connecting
    expect(clean.connack.sessionPresent).toBe(false)
    await first.untilClosed()
    await clean.disconnect()
    expect(await service.documents('mqtt-sessions/')).toEqual([])
    expect((await service.connectThing(thing, session)).connack.sessionPresent).toBe(false)
  })
})
