import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createAccess } from '../../../src/access/index.ts'
import { sourceRules } from '../../../src/formats/registry.ts'
import type { StoreDriver } from '../../../src/store/contract.ts'
import { createMemoryStore } from '../../../src/store/memory/index.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { createGate } from '../../helpers/gate.ts'
import { openNodeOfMany } from '../node-of-many.ts'
import { adminKey, append, documentsUnder, openAccess } from '../open-access.ts'

/** A store whose removals of things go through `removeThing`. */
function storeWith(removeThing: (thingId: string, remove: () => Promise<void>) => Promise<void>) {
  const driver = createMemoryStore()
  const intercepted: StoreDriver = {
    ...driver,
    records: {
      ...driver.records,
      removeThing: thingId => removeThing(thingId, () => driver.records.removeThing(thingId)),
    },
  }
  return { driver, intercepted }
}

describe('ThingRegistry.remove()', () => {
  it('answers before the data is gone, and removes it in the background', async () => {
    const gate = createGate()
    const { intercepted } = storeWith(async (_thingId, remove) => {
      await gate.pass()
      await remove()
    })
    const { access, registry, store, close } = await openAccess({ driver: intercepted })
    const { thingId, thingToken } = await registry.create({})
    const kept = await registry.create({})
    await access.thingOfToken(thingToken)
    await append(store, thingId, 'temperature', '21.5')
    await append(store, kept.thingId, 'temperature', '3')
    await registry.remove(thingId)
    await gate.reached
    expect(await store.records.resources(thingId)).toEqual(['temperature'])
    expect((await documentsUnder(store.documents, 'removals/')).map(([name]) => name)).toEqual([
      `removals/${thingId}`,
    ])
    gate.open()
    await expect.poll(() => documentsUnder(store.documents, 'removals/')).toEqual([])
    expect(await store.records.resources(thingId)).toEqual([])
    expect(await store.records.resources(kept.thingId)).toEqual(['temperature'])
    const names = (await documentsUnder(store.documents, '')).map(([name]) => name)
    expect(names.filter(name => name.includes(thingId))).toEqual([])
    await close()
  })

  it('goes on at the next start with what failed or never began', async () => {
    const failing = storeWith(() => Promise.reject(new Error('the process dies here')))
    const first = await openAccess({ driver: failing.intercepted })
    const things = [await first.registry.create({}), await first.registry.create({})]
    for (const { thingId } of things) {
      await append(first.store, thingId, 'temperature', '21.5')
      await first.registry.remove(thingId)
    }
    await first.close()

    const store = await openStore(failing.driver)
    expect(await documentsUnder(store.documents, 'removals/')).toHaveLength(2)
    const second = await createAccess({ ...store, adminKey, allowThingDelete: false, rules: sourceRules })
    await expect.poll(() => documentsUnder(store.documents, 'removals/')).toEqual([])
    for (const { thingId, thingToken } of things) {
      expect(await store.records.resources(thingId)).toEqual([])
      const refused = second.access.thingOfToken(thingToken)
      await expect(refused).rejects.toMatchObject({ reason: 'unknown_thing_token' })
    }
    await second.close()
    await store.close()
  })

  it('leaves the removals that wait to the next start when access is closed', async () => {
    const gate = createGate()
    const removed: string[] = []
    const { intercepted } = storeWith(async (thingId, remove) => {
      await gate.pass()
      await remove()
      removed.push(thingId)
    })
    const { registry, store, close } = await openAccess({ driver: intercepted })
    const first = await registry.create({})
    const second = await registry.create({})
    await registry.remove(first.thingId)
    await gate.reached
    await registry.remove(second.thingId)
    const documents = store.documents
    const closing = close()
    // Whatever close() does without waiting for the removal, it has done by now.
    await setImmediate()
    gate.open()
    await closing
    expect(removed).toEqual([first.thingId])
    await expect(documents.get(`removals/${second.thingId}`)).rejects.toMatchObject({
      reason: 'store_unavailable',
    })
    expect(await intercepted.documents.get(`removals/${first.thingId}`)).toBeUndefined()
    expect(await intercepted.documents.get(`removals/${second.thingId}`)).toBeDefined()
  })

  it('has the data removed by the node that leads, and by the next one what it leaves', async () => {
    const gate = createGate()
    let isFirst = true
    const { intercepted } = storeWith(async (_thingId, remove) => {
      if (isFirst) await gate.pass()
      isFirst = false
      await remove()
    })
    const store = await openStore(intercepted)
    const [leader, heir, other] = [
      await openNodeOfMany(store),
      await openNodeOfMany(store),
      await openNodeOfMany(store),
    ]
    const stopLeading = leader.lead()
    const { thingId } = await other.registry.create({})
    const next = await other.registry.create({})
    for (const id of [thingId, next.thingId]) await append(store, id, 'temperature', '21.5')
    await other.registry.remove(thingId)
    leader.tell([`things/${thingId}`, `removals/${thingId}`])
    await gate.reached
    await other.registry.remove(next.thingId)
    leader.tell([`things/${next.thingId}`, `removals/${next.thingId}`])
    const stopped = stopLeading()
    gate.open()
    await stopped
    const left = async () => (await documentsUnder(store.documents, 'removals/')).map(([name]) => name)
    expect(await left()).toEqual([`removals/${next.thingId}`])
    expect(await store.records.resources(next.thingId)).toEqual(['temperature'])
    const stopInheriting = heir.lead()
    await expect.poll(left).toEqual([])
    for (const id of [thingId, next.thingId]) expect(await store.records.resources(id)).toEqual([])
    await stopInheriting()
    await store.close()
  })
})
