import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../../../src/store/memory/index.ts'
import { documentsUnder, type OpenAccess, openAccess } from '../open-access.ts'

const spent = { reason: 'unknown_activation_code' }

async function openWithCode(uses: number) {
  const opened = await openAccess()
  const [code = ''] = await opened.activationCodes.create({ count: 1, uses })
  return { ...opened, code }
}

/** A device that activates, and activates again when its token is refused; gives the thing that it has become. */
async function becomeThing({ access, activationCodes }: OpenAccess, code: string): Promise<string> {
  for (;;) {
    const { thingId, thingToken } = await activationCodes.activate(code)
    const used = await access.thingOfToken(thingToken).catch(() => undefined)
    if (used === thingId) return thingId
  }
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await Promise.resolve()
}

describe('activate()', () => {
  it('makes a thing of each of many devices that share a code, and no more than it has uses', async () => {
    const { code, ...opened } = await openWithCode(20)
    const made = new Set<string>()
    for (let device = 0; device < 20; device++) made.add(await becomeThing(opened, code))
    expect(made.size).toBe(20)
    expect((await opened.registry.list({ limit: 100 })).things).toHaveLength(20)
    await expect(opened.activationCodes.activate(code)).rejects.toMatchObject(spent)
    expect(await documentsUnder(opened.store.documents, 'activation-codes/')).toEqual([])
    expect(await documentsUnder(opened.store.documents, 'tokens/')).toHaveLength(20)
  })

  it('answers again for the same thing after a crash', async () => {
    const driver = createMemoryStore()
    const before = await openAccess({ driver })
    const [code = ''] = await before.activationCodes.create({ count: 1, uses: 1 })
    const lost = await before.activationCodes.activate(code)
    // What was not written when the process died, nobody writes.
    const { access, activationCodes } = await openAccess({ driver })
    const kept = await activationCodes.activate(code)
    expect(kept.thingId).toBe(lost.thingId)
    expect(await access.thingOfToken(kept.thingToken)).toBe(lost.thingId)
    await expect(access.thingOfToken(lost.thingToken)).rejects.toMatchObject({
      reason: 'unknown_thing_token',
    })
    await expect(activationCodes.activate(code)).rejects.toMatchObject(spent)
  })

  it('does not answer again after a crash for a thing that was let in before it', async () => {
    const driver = createMemoryStore()
    const before = await openAccess({ driver })
    const [code = ''] = await before.activationCodes.create({ count: 1, uses: 1 })
    const { thingToken, thingId } = await before.activationCodes.activate(code)
    await before.access.thingOfToken(thingToken)
    const { access, activationCodes } = await openAccess({ driver })
    await expect(activationCodes.activate(code)).rejects.toMatchObject(spent)
    expect(await access.thingOfToken(thingToken)).toBe(thingId)
  })

  it('makes another thing where the operator removed the last one, which costs a use', async () => {
    const { code, activationCodes, registry } = await openWithCode(2)
    const first = await activationCodes.activate(code)
    await registry.remove(first.thingId)
    const second = await activationCodes.activate(code)
    expect(second.thingId).not.toBe(first.thingId)
    await registry.remove(second.thingId)
    await expect(activationCodes.activate(code)).rejects.toMatchObject(spent)
    expect((await registry.list({ limit: 10 })).things).toEqual([])
  })

  it('leaves no live token of a thing that is removed meanwhile', async () => {
    for (let round = 0; round < 40; round++) {
      const { code, access, activationCodes, registry, store } = await openWithCode(1)
      const { thingId } = await activationCodes.activate(code)
      const again = (async () => {
        await turns(round)
        return await activationCodes.activate(code)
      })()
      await registry.remove(thingId)
      const [result] = await Promise.allSettled([again])
      if (result.status === 'fulfilled') {
        const { thingToken } = result.value
        await expect(access.thingOfToken(thingToken)).rejects.toMatchObject({ reason: 'unknown_thing_token' })
      }
      await expect(activationCodes.activate(code)).rejects.toMatchObject(spent)
      expect(await documentsUnder(store.documents, 'tokens/')).toEqual([])
      expect(await documentsUnder(store.documents, 'things/')).toEqual([])
    }
  })

  it('gives nothing for a code that is removed, and lets the token that it gave live', async () => {
    const { code, access, activationCodes } = await openWithCode(3)
    const { thingId, thingToken } = await activationCodes.activate(code)
    await activationCodes.remove(code)
    await expect(activationCodes.activate(code)).rejects.toMatchObject(spent)
    expect(await access.thingOfToken(thingToken)).toBe(thingId)
    await expect(activationCodes.activate(code)).rejects.toMatchObject(spent)
  })
})
