import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { StoreDriver } from '../../../src/store/contract.ts'
import { isOf } from '../../helpers/mqtt-client.ts'
import { DoorService } from '../door-service.ts'
import { isMark, messagesOf, numbers, passed, valuesOf, writeAll } from '../messages.ts'

const session = { clientId: 'board', clean: false }

/** Stops whoever reads the commit log, or has them fail. */
class LogGate {
  #isClosed = false
  #arrived: (() => void)[] = []
  #waiting: (() => void)[] = []
  #failure: Error | undefined

  alter({ records }: StoreDriver): void {
    const { readLog } = records
    Object.assign(records, {
      readLog: async (...query: Parameters<typeof readLog>) => {
        if (this.#isClosed) {
          await new Promise<void>(resolve => {
            this.#waiting.push(resolve)
            for (const tell of this.#arrived.splice(0)) tell()
          })
        }
        if (this.#failure) throw this.#failure
        return await readLog.apply(records, query)
      },
    })
  }

  /** From now on. @returns resolves when somebody waits */
  close(): Promise<void> {
    this.#isClosed = true
    return new Promise(resolve => this.#arrived.push(resolve))
  }

  fail(failure: Error | undefined): void {
    this.#failure = failure
  }

  open(): void {
    this.#isClosed = false
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}

/** A session that is away, and has missed 0 to 4. */
async function start() {
  const gate = new LogGate()
  const service = await DoorService.start({ alter: store => gate.alter(store) })
  const thing = await service.createThing()
  const first = await service.connectThing(thing, session)
  const filters = ['n', 'mark'].map(key => `things/${thing.thingId}/values/${key}`)
  await first.subscribeAll(filters)
  await passed(service, thing, first)
  await first.disconnect()
  await writeAll(service, thing, ...numbers(5))
  return { gate, service, thing, filters }
}

describe('while it is being read what a session has missed', () => {
  it('what is live waits behind it, with the retained messages of a SUBSCRIBE in their place', async () => {
    const { gate, service, thing, filters } = await start()
    const waiting = gate.close()
    const client = await service.connectThing(thing, session)
    await waiting
    await writeAll(service, thing, 5, 6)
    const subscriptions = filters.map(topic => ({ topic, qos: 1 as const }))
    client.send({ cmd: 'subscribe', messageId: 50, subscriptions })
    await client.next(isOf('suback', 50))
    await writeAll(service, thing, 7, 8)
    await client.ping()
    expect(messagesOf(client)).toEqual([])
    gate.open()
    await passed(service, thing, client)
    const seen = messagesOf(client).filter(message => !isMark(message))
    expect(seen.map(({ payload, retain }) => [JSON.parse(payload).value, retain])).toEqual([
      ...numbers(7).map(value => [value, false]),
      [6, true],
      [7, false],
      [8, false],
    ])
  })

  it.each([
    ['ends', async () => {}],
    ['has its session taken over', undefined],
  ])('a connection that %s leaves all of it to the next one', async (_name, end) => {
    const { gate, service, thing } = await start()
    const waiting = gate.close()
    const first = await service.connectThing(thing, session)
    await waiting
    await writeAll(service, thing, 5)
    if (end) {
      await first.destroy()
      await delay(20)
    }
    const second = await service.connectThing(thing, session)
    await writeAll(service, thing, 6)
    await first.untilClosed()
    gate.open()
    await passed(service, thing, second)
    expect(valuesOf(second, 'n')).toEqual(numbers(7))
    expect(messagesOf(first)).toEqual([])
  })
})

describe('a session of which it cannot be read what it has missed', () => {
  it('has its connection closed, and gets all of it when it can', async () => {
    const { gate, service, thing } = await start()
    gate.fail(new Error('of the test'))
    const first = await service.connectThing(thing, session)
    expect(first.connack).toMatchObject({ returnCode: 0, sessionPresent: true })
    await first.untilClosed()
    await writeAll(service, thing, 5)
    gate.fail(undefined)
    const second = await service.connectThing(thing, session)
    await passed(service, thing, second)
    expect(valuesOf(second, 'n')).toEqual(numbers(6))
  })
})
