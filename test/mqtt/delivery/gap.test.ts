import { expect, it } from 'vitest'
import type { StoreDriver } from '../../../src/store/contract.ts'
import { SoleLocks, soleNode } from '../../../src/store/open-store.ts'
import { connectMqtt } from '../../helpers/mqtt-client.ts'
import { DoorService } from '../door-service.ts'
import { messagesOf, nextOn, numbers, post, valueIn } from '../messages.ts'

/** A node that is not told of commits while it is cut off. */
class CutOff {
  #isCutOff = false
  readonly #listeners = new Set<() => void>()

  alter(store: StoreDriver): void {
    const { records } = store
    const onCommit = records.onCommit.bind(records)
    Object.assign(records, {
      onCommit: (listener: Parameters<typeof onCommit>[0]) =>
        onCommit(commit => this.#isCutOff || listener(commit)),
    })
    const onGap = (listener: () => void) => {
      this.#listeners.add(listener)
      return () => void this.#listeners.delete(listener)
    }
    Object.assign(store, { nodes: { ...soleNode(new SoleLocks('node', async () => {})), onGap } })
  }

  begin(): void {
    this.#isCutOff = true
  }

  /** The commits in between are told no more. */
  end(): void {
    this.#isCutOff = false
    for (const tell of this.#listeners) tell()
  }
}

it('a client of a node that has missed commits is closed, and gets them when it comes back, all that is QoS 1 and in order', async () => {
  const cutOff = new CutOff()
  const service = await DoorService.start({ alter: store => cutOff.alter(store) })
  const thing = await service.createThing()
  const filter = `things/${thing.thingId}/values/n`
  const sessions = [
    { clientId: 'persistent', clean: false },
    { clientId: 'clean', clean: true },
  ]
  const connect = async (acknowledges = true) =>
    await Promise.all(
      sessions.map(session =>
        connectMqtt({ url: service.mqttUrl, username: thing.thingToken, acknowledges, ...session }),
      ),
    )
  const before = await connect(false)
  for (const client of before) await client.subscribe(filter)
  const write = async (value: number) => await post(service, thing, { values: [{ key: 'n', value }] })
  await write(0)
  for (const client of before) await nextOn(client, '/n')
  cutOff.begin()
  for (const value of [1, 2]) await write(value)
  cutOff.end()
  await write(3)
  for (const client of before) await client.untilClosed()
  const live = (client: (typeof before)[number]) =>
    messagesOf(client)
      .filter(({ retain }) => !retain)
      .map(({ payload, dup }) => [valueIn(payload), dup])
  // Nothing is sent behind what is missing.
  for (const client of before) expect(live(client)).toEqual([[0, false]])

  const [persistent, clean] = await connect()
  if (!persistent || !clean) throw new Error('no connection')
  for (const _ of numbers(4)) await nextOn(persistent, '/n')
  expect(live(persistent)).toEqual([
    [0, true],
    [1, false],
    [2, false],
    [3, false],
  ])
  await clean.subscribe(filter)
  await write(4)
  for (const client of [persistent, clean]) expect(valueIn((await nextOn(client, '/n')).payload)).toBe(4)
  await Promise.all([persistent.destroy(), clean.destroy()])
})
