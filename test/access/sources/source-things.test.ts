import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { AccessServices, SourcePrincipal } from '../../../src/access/index.ts'
import type { Store } from '../../../src/store/contract.ts'
import { openNodes } from '../node-of-many.ts'
import { documentsUnder, openAccess } from '../open-access.ts'

const tooMany = { reason: 'too_many_things' }

async function sourceOf({ access, sources }: AccessServices, options = {}): Promise<SourcePrincipal> {
  const { sourceToken } = await sources.create({ name: 'house', overlap: true, ...options })
  const principal = await access.identify(sourceToken)
  if (principal.kind !== 'source') throw new Error('no source')
  return principal
}

/** The devices of the things in the store, by the name of the thing. */
async function devices(store: Store): Promise<Record<string, unknown>> {
  const things = await documentsUnder(store.documents, 'things/')
  return Object.fromEntries(things.map(([, { name, source }]) => [name, source]))
}

describe('SourceThings', () => {
  it('makes a thing without a token, once, and a thing of its own for each source', async () => {
    const services = await openAccess()
    const { sourceThings, registry } = services
    const [house, barn] = [await sourceOf(services), await sourceOf(services)]
    expect(sourceThings.known(house.sourceId, 'plug')).toBeUndefined()
    const made = await sourceThings.thingOf(house, 'plug', undefined, 'Plug')
    expect(made).toMatchObject({ isNew: true })
    expect(await sourceThings.thingOf(house, 'plug', undefined, 'other')).toEqual({ ...made, isNew: false })
    expect(sourceThings.known(house.sourceId, 'plug')).toBe(made?.thingId)
    expect(await registry.tokens(made?.thingId ?? '')).toEqual([])
    const ofBarn = await sourceThings.thingOf(barn, 'plug', undefined, 'Plug')
    expect(ofBarn).toMatchObject({ isNew: true })
    expect(ofBarn?.thingId).not.toBe(made?.thingId)
    const { things } = await registry.list({ limit: 10, sourceId: barn.sourceId })
    expect(things.map(({ thingId }) => thingId)).toEqual([ofBarn?.thingId])
  })

  it('makes no thing if the source has only known things, or without a name', async () => {
    const services = await openAccess()
    const { sourceThings, store } = services
    const known = await sourceOf(services, { things: 'known' })
    expect(await sourceThings.thingOf(known, 'plug', undefined, 'Plug')).toBeUndefined()
    expect(await sourceThings.thingOf(await sourceOf(services), 'plug', undefined, undefined)).toBeUndefined()
    expect(await devices(store)).toEqual({})
  })

  it.each(['a/b', '..', 'ü %2F', '\ud800', 'x'.repeat(200)])('takes %j for a device', async device => {
    const services = await openAccess()
    const source = await sourceOf(services)
    const made = await services.sourceThings.thingOf(source, device, undefined, device)
    expect(made).toMatchObject({ isNew: true })
    expect(services.sourceThings.known(source.sourceId, device)).toBe(made?.thingId)
    await services.registry.remove(made?.thingId ?? '')
    expect(await documentsUnder(services.store.documents, 'source-devices/')).toEqual([])
  })

  it('refuses a device with a longer name, and cuts the name of a thing', async () => {
    const services = await openAccess()
    const source = await sourceOf(services)
    const { sourceThings, store } = services
    await expect(sourceThings.thingOf(source, 'x'.repeat(201), undefined, 'x')).rejects.toMatchObject(tooMany)
    await sourceThings.thingOf(source, 'plug', undefined, 'y'.repeat(1_000))
    expect(await devices(store)).toEqual({ ['y'.repeat(200)]: { sourceId: source.sourceId, device: 'plug' } })
  })

  it('lets the first device with an identifier adopt the thing that was made by its name, and no other', async () => {
    const services = await openAccess()
    const { sourceThings, store } = services
    const source = await sourceOf(services)
    const byName = await sourceThings.thingOf(source, 'plug', undefined, 'plug')
    const adopted = await sourceThings.thingOf(source, '0x1', 'plug', 'plug')
    expect(adopted).toEqual({ ...byName, isNew: true })
    expect(sourceThings.known(source.sourceId, 'plug')).toBeUndefined()
    expect(await devices(store)).toEqual({ plug: { sourceId: source.sourceId, device: '0x1' } })
    // Another device under this name has a thing of its own, whether it comes first by name or not.
    const second = await sourceThings.thingOf(source, '0x2', 'plug', 'second')
    const third = await sourceThings.thingOf(source, 'plug', undefined, 'third')
    expect(new Set([adopted, second, third].map(found => found?.thingId)).size).toBe(3)
    expect(await sourceThings.thingOf(source, '0x1', 'renamed', 'x')).toEqual({ ...adopted, isNew: false })
  })

  it('does not let a source adopt a thing of another one', async () => {
    const services = await openAccess()
    const [house, barn] = [await sourceOf(services), await sourceOf(services)]
    const made = await services.sourceThings.thingOf(house, 'plug', undefined, 'plug')
    const other = await services.sourceThings.thingOf(barn, '0x1', 'plug', 'plug')
    expect(other).toMatchObject({ isNew: true })
    expect(other?.thingId).not.toBe(made?.thingId)
  })

  it('keeps each device its thing when names are swapped', async () => {
    const services = await openAccess()
    const { sourceThings } = services
    const source = await sourceOf(services)
    const lamp = await sourceThings.thingOf(source, '0x1', 'lamp', 'lamp')
    const plug = await sourceThings.thingOf(source, '0x2', 'plug', 'plug')
    expect(await sourceThings.thingOf(source, '0x1', 'plug', 'plug')).toMatchObject({
      thingId: lamp?.thingId,
    })
    expect(await sourceThings.thingOf(source, '0x2', 'lamp', 'lamp')).toMatchObject({
      thingId: plug?.thingId,
    })
  })

  it('frees the device of a removed thing', async () => {
    const services = await openAccess()
    const { sourceThings, registry, store } = services
    const source = await sourceOf(services)
    const before = await sourceThings.thingOf(source, 'plug', undefined, 'plug')
    await registry.remove(before?.thingId ?? '')
    expect(sourceThings.known(source.sourceId, 'plug')).toBeUndefined()
    const after = await sourceThings.thingOf(source, 'plug', undefined, 'plug')
    expect(after).toMatchObject({ isNew: true })
    expect(await devices(store)).toEqual({ plug: { sourceId: source.sourceId, device: 'plug' } })
  })

  it('marks a thing as gone and as back', async () => {
    const services = await openAccess()
    const { sourceThings, store } = services
    const source = await sourceOf(services)
    const { sourceId } = source
    await sourceThings.thingOf(source, 'plug', undefined, 'plug')
    await sourceThings.markGone(sourceId, 'nobody', true)
    await sourceThings.markGone(sourceId, 'plug', true)
    expect(await devices(store)).toEqual({ plug: { sourceId, device: 'plug', isGone: true } })
    await sourceThings.markGone(sourceId, 'plug', false)
    expect(await devices(store)).toEqual({ plug: { sourceId, device: 'plug' } })
  })

  it('attaches a device to a thing in the place of what either had before', async () => {
    const services = await openAccess()
    const { sourceThings, registry, store } = services
    const source = await sourceOf(services)
    const { sourceId } = source
    const made = await sourceThings.thingOf(source, 'plug', undefined, 'made')
    await sourceThings.thingOf(source, 'lamp', undefined, 'other')
    const { thingId } = await registry.create({ name: 'mine' })
    await sourceThings.attach(thingId, sourceId, 'plug')
    const found = { thingId, isNew: false }
    expect(await sourceThings.thingOf(source, 'plug', undefined, 'plug')).toEqual(found)
    expect(await devices(store)).toEqual({
      made: undefined,
      other: { sourceId, device: 'lamp' },
      mine: { sourceId, device: 'plug' },
    })
    await sourceThings.attach(thingId, sourceId, 'plug')
    await sourceThings.attach(thingId, sourceId, 'lamp')
    expect(await sourceThings.thingOf(source, 'lamp', undefined, 'lamp')).toEqual(found)
    expect(await devices(store)).toEqual({
      made: undefined,
      other: undefined,
      mine: { sourceId, device: 'lamp' },
    })
    const again = await sourceThings.thingOf(source, 'plug', undefined, 'again')
    expect(again).toMatchObject({ isNew: true })
    expect(again?.thingId).not.toBe(made?.thingId)
    // An identifier that is discovered later does not take an attached thing by its name.
    expect(await sourceThings.thingOf(source, '0x1', 'lamp', 'new')).toMatchObject({ isNew: true })
  })

  it('attaches nothing to an unknown thing or of an unknown source', async () => {
    const services = await openAccess()
    const { sourceId } = await sourceOf(services)
    const { thingId } = await services.registry.create({})
    const attach = (...parts: [string, string]) => services.sourceThings.attach(...parts, 'plug')
    await expect(attach(sourceId, sourceId)).rejects.toMatchObject({ reason: 'unknown_thing' })
    await expect(attach(thingId, thingId)).rejects.toMatchObject({ reason: 'not_found' })
    expect(await documentsUnder(services.store.documents, 'source-devices/')).toEqual([])
  })

  it('makes at most 60 things a minute for a source', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const services = await openAccess()
    const { sourceThings } = services
    const [source, other] = [await sourceOf(services), await sourceOf(services)]
    const make = (number: number) => sourceThings.thingOf(source, `${number}`, undefined, 'many')
    for (let number = 0; number < 60; number++) await make(number)
    await expect(make(60)).rejects.toMatchObject(tooMany)
    expect(await make(0)).toMatchObject({ isNew: false })
    await sourceThings.thingOf(other, '60', undefined, 'one')
    vi.advanceTimersByTime(60_000)
    expect(await make(60)).toMatchObject({ isNew: true })
  })

  it('makes no thing for a source that has 1,000', async () => {
    const services = await openAccess()
    const { sourceThings, store } = services
    const source = await sourceOf(services)
    const names = Array.from({ length: 1_000 }, (_, place) => `source-devices/${source.sourceId}/${place}`)
    const all = Object.fromEntries(names.map(name => [name, { thingId: 'aaaaaaaaaaaaaaaa' }]))
    await store.documents.put(all, 'register')
    await expect(sourceThings.thingOf(source, 'plug', undefined, 'x')).rejects.toMatchObject(tooMany)
    await store.documents.put({ [names[0] ?? '']: null }, 'register')
    expect(await sourceThings.thingOf(source, 'plug', undefined, 'x')).toMatchObject({ isNew: true })
  })
})

describe('the things of sources on two nodes', () => {
  it('one thing if both make it at the same time, whether by name or by discovery', async () => {
    const { store, here, there } = await openNodes()
    const source = await sourceOf(here)
    there.tell([`sources/${source.sourceId}`])
    const ask = (services: AccessServices, ...[device, alias]: [string, string?]) =>
      services.sourceThings.thingOf(source, device, alias, device)
    const byName = await Promise.all([here, there, here, there].map(node => ask(node, 'plug')))
    expect(byName.filter(found => found?.isNew)).toHaveLength(1)
    const found = await Promise.all([here, there].map(node => ask(node, '0x1', 'plug')))
    const others = await Promise.all([here, there].map(node => ask(node, '0x2', 'lamp')))
    expect(new Set([...byName, ...found].map(each => each?.thingId)).size).toBe(1)
    expect(new Set(others.map(each => each?.thingId)).size).toBe(1)
    expect(Object.values(await devices(store))).toHaveLength(2)
  })

  it('are one for a device whose identifier this node has not heard yet', async () => {
    const { store, here, there } = await openNodes()
    const source = await sourceOf(here)
    const learned = await there.sourceThings.thingOf(source, '0x1', 'plug', 'plug')
    const ask = () => here.sourceThings.thingOf(source, 'plug', undefined, 'plug')
    for (let message = 0; message < 100; message++)
      expect(await ask()).toEqual({ thingId: learned?.thingId, isNew: false })
    const ofKnown = { ...source, terms: { ...source.terms, things: 'known' } } as const
    expect(await here.sourceThings.thingOf(ofKnown, 'plug', undefined, 'plug')).toMatchObject({
      thingId: learned?.thingId,
    })
    // The thing of a name goes on as that of the identifier, and is found by the name as before.
    const lamp = await here.sourceThings.thingOf(source, 'lamp', undefined, 'lamp')
    const adopted = await there.sourceThings.thingOf(source, '0x2', 'lamp', 'lamp')
    here.sourceThings.known(source.sourceId, 'lamp')
    here.tell([`source-devices/${source.sourceId}/lamp`])
    expect([adopted, await here.sourceThings.thingOf(source, 'lamp', undefined, 'lamp')]).toMatchObject([
      { thingId: lamp?.thingId },
      { thingId: lamp?.thingId },
    ])
    expect(Object.keys(await devices(store)).sort()).toEqual(['lamp', 'plug'])
    await here.sources.remove(source.sourceId)
    const end = here.lead()
    await expect.poll(() => documentsUnder(store.documents, 'source-')).toEqual([])
    await end()
  })

  it('are one for a device that two nodes make at once, by its name and by its identifier', async () => {
    const { store, here, there } = await openNodes()
    const source = await sourceOf(here)
    there.tell([`sources/${source.sourceId}`])
    for (let device = 0; device < 25; device++) {
      const name = `plug${device}`
      const made = [
        here.sourceThings.thingOf(source, name, undefined, name),
        there.sourceThings.thingOf(source, `0x${device}`, name, name),
      ]
      const ids = (await Promise.all(device % 2 ? made : made.reverse())).map(found => found?.thingId)
      expect(new Set(ids).size).toBe(1)
    }
    expect(Object.keys(await devices(store))).toHaveLength(25)
  })

  it('are two for two devices of one name, if every node has heard which one the first is', async () => {
    const { here, there } = await openNodes()
    const source = await sourceOf(here)
    const first = await there.sourceThings.thingOf(source, '0x1', 'plug', 'plug')
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 })
    onTestFinished(() => void vi.useRealTimers())
    const second = await here.sourceThings.thingOf(source, 'plug', undefined, 'plug')
    expect(second).toMatchObject({ isNew: true })
    expect(second?.thingId).not.toBe(first?.thingId)
  })

  it('hear of a thing that another node has removed or attached', async () => {
    const { here, there, elsewhere } = await openNodes()
    const source = await sourceOf(here)
    const { sourceId } = source
    there.tell([`sources/${sourceId}`])
    const before = await here.sourceThings.thingOf(source, 'plug', undefined, 'plug')
    await elsewhere(() => there.registry.remove(before?.thingId ?? ''))
    expect(here.sourceThings.known(sourceId, 'plug')).toBeUndefined()
    await here.sourceThings.thingOf(source, 'plug', undefined, 'plug')
    const { thingId } = await there.registry.create({})
    await expect.poll(() => there.sources.list()).toHaveLength(1)
    await elsewhere(() => there.sourceThings.attach(thingId, sourceId, 'plug'))
    expect(await here.sourceThings.thingOf(source, 'plug', undefined, 'plug')).toMatchObject({ thingId })
  })

  it('make none for a source that another node has removed', async () => {
    const { store, here, there } = await openNodes()
    const source = await sourceOf(here)
    there.tell([`sources/${source.sourceId}`])
    await expect.poll(() => there.sources.list()).toHaveLength(1)
    await there.sources.remove(source.sourceId)
    expect(await here.sourceThings.thingOf(source, 'plug', undefined, 'plug')).toBeUndefined()
    expect(await devices(store)).toEqual({})
  })
})
