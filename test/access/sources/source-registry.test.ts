import { describe, expect, it } from 'vitest'
import type { SourceOptions } from '../../../src/access/access.ts'
import { hashToken } from '../../../src/core/token.ts'
import { openNodes } from '../node-of-many.ts'
import { append, documentsUnder, openAccess } from '../open-access.ts'

const notFound = { reason: 'not_found' }
const overlap = { reason: 'topics_overlap' }
const garden = { name: 'garden', formats: ['levels'], pattern: 'garden/{device}/{key}' }

describe('SourceRegistry', () => {
  it('makes a source with the topics and formats of a house, and finds it by its token', async () => {
    const { access, sources } = await openAccess()
    const { sourceId, sourceToken } = await sources.create({ name: 'house' })
    const terms = { topics: ['#'], things: 'create', formats: expect.arrayContaining(['tasmota', 'shelly']) }
    expect(await sources.get(sourceId)).toEqual({
      ...{ sourceId, name: 'house', createdAt: expect.any(Number) },
      ...terms,
    })
    expect(await access.identify(sourceToken)).toMatchObject({ kind: 'source', sourceId, terms })
    const grants = await access.topicsOf(await access.identify(sourceToken))
    expect(grants).toEqual([
      { filter: '#', access: 'read' },
      { filter: '#', access: 'write' },
    ])
  })

  it('lists all in the order of their ids', async () => {
    const { sources } = await openAccess()
    for (let number = 0; number < 20; number++)
      await sources.create({ ...garden, topics: [`garden/${number}`] })
    const ids = (await sources.list()).map(({ sourceId }) => sourceId)
    expect(ids).toHaveLength(20)
    expect(ids).toEqual([...ids].sort())
  })

  it.each<[options: SourceOptions, message: string]>([
    [{ name: '' }, 'name must be 1 to 200 characters'],
    [{ name: 'x'.repeat(201) }, 'name must be 1 to 200 characters'],
    [{ name: 'house', formats: [] }, 'formats must be one or more of'],
    [{ name: 'house', formats: ['nonsense'] }, 'formats must be one or more of'],
    [{ name: 'house', formats: ['levels'] }, 'pattern must be given with the format levels'],
    [
      { name: 'agent', formats: ['influx'], topics: ['telegraf/#'] },
      'topics must be none with the format influx alone',
    ],
    [{ name: 'house', pattern: '{device}' }, 'pattern must be given with the format levels'],
    [{ ...garden, topics: ['+/a'] }, 'topics: +/a begins with a wildcard'],
    [{ ...garden, topics: ['things/#'] }, 'topics: things/# begins with things'],
    [{ ...garden, topics: ['v2/#'] }, 'topics: v2/# begins with v2'],
    [{ ...garden, topics: ['$SYS/#'] }, 'topics: $SYS/# begins with $'],
    [{ ...garden, topics: ['a/#/b'] }, 'topics: a/#/b: # must be the last level'],
    [{ ...garden, topics: Array.from({ length: 101 }, (_, place) => `${place}`) }, 'at most 100 filters'],
  ])('refuses %j', async (options, message) => {
    const { sources } = await openAccess()
    const refused = sources.create(options)
    await expect(refused).rejects.toMatchObject({ reason: 'invalid_body' })
    await expect(refused).rejects.toThrow(message)
    expect(await sources.list()).toEqual([])
  })

  it('refuses topics that overlap those of another source, unless they may', async () => {
    const { sources } = await openAccess()
    const first = await sources.create({ ...garden, topics: ['garden/#', 'yard/+/state'] })
    const refused = sources.create({ ...garden, topics: ['cellar/#', 'yard/pump/+'] })
    await expect(refused).rejects.toMatchObject(overlap)
    await expect(refused).rejects.toThrow(`the source garden (${first.sourceId})`)
    await expect(refused).rejects.toThrow('allow it: "overlap":true in a request, --overlap in a command')
    await expect(sources.create({ name: 'house' })).rejects.toMatchObject(overlap)
    const { sourceId } = await sources.create({ ...garden, topics: ['cellar/#', 'yard/pump'] })
    await expect(sources.change(sourceId, { topics: ['garden'] })).rejects.toMatchObject(overlap)
    expect(await sources.get(sourceId)).toMatchObject({ topics: ['cellar/#', 'yard/pump'] })
    await sources.change(sourceId, { topics: ['garden'], overlap: true })
    // Topics that it has already are its own; its name may change whatever others have.
    await sources.change(first.sourceId, { name: 'front garden' })
    await sources.change(sourceId, { topics: ['cellar/x'] })
    await sources.change(sourceId, { topics: ['cellar/#'] })
  })

  it('changes terms one by one; formats replace the pattern too', async () => {
    const { access, sources } = await openAccess()
    const { sourceId, sourceToken } = await sources.create({ ...garden, topics: ['garden/#'] })
    await access.identify(sourceToken)
    await sources.change(sourceId, { things: 'known' })
    await sources.change(sourceId, { pattern: 'garden/{key}/{device}' }).catch(() => {})
    expect(await access.identify(sourceToken)).toMatchObject({
      terms: { ...garden, topics: ['garden/#'], things: 'known' },
    })
    await sources.change(sourceId, { formats: ['shelly'] })
    const { terms } = (await access.identify(sourceToken)) as { terms?: object }
    expect(terms).toMatchObject({ formats: ['shelly'], topics: ['garden/#'], things: 'known' })
    expect(terms).not.toHaveProperty('pattern')
    await expect(sources.change(sourceId, { formats: ['levels'] })).rejects.toThrow('pattern must be given')
  })

  it('announces a change so that connections are closed and sessions stay', async () => {
    const { access, sources } = await openAccess()
    const { sourceId, sourceToken } = await sources.create({ ...garden, topics: ['garden/#'] })
    const announced: unknown[] = []
    const changed: unknown[] = []
    access.onRevoke(revocation => announced.push(revocation))
    access.onTopics(thingId => changed.push(thingId))
    await sources.change(sourceId, { topics: ['garden/a'] })
    const both = { hashes: new Set([hashToken(sourceToken)]), principals: new Set([`source.${sourceId}`]) }
    expect(announced).toEqual([{ ...both, isChange: true }])
    await sources.remove(sourceId)
    expect(announced.slice(1)).toEqual([both])
    expect(changed).toEqual([undefined, undefined])
  })

  it('gives a source another token, and ends what the one before was used for, but no session', async () => {
    const { access, sources } = await openAccess()
    const { sourceId, sourceToken } = await sources.create(garden)
    const before = await sources.get(sourceId)
    await access.identify(sourceToken)
    const announced: unknown[] = []
    access.onRevoke(revocation => announced.push(revocation))
    const { sourceToken: next } = await sources.renewToken(sourceId)
    expect(announced).toEqual([{ hashes: new Set([hashToken(sourceToken)]), principals: new Set() }])
    await expect(access.identify(sourceToken)).rejects.toMatchObject({ reason: 'invalid_session' })
    expect(await access.identify(next)).toMatchObject({ kind: 'source', sourceId, terms: garden })
    expect(await sources.get(sourceId)).toEqual(before)
    await sources.change(sourceId, { name: 'yard' })
    await sources.remove(sourceId)
    await expect(access.identify(next)).rejects.toMatchObject({ reason: 'invalid_session' })
    await expect(sources.renewToken(sourceId)).rejects.toMatchObject(notFound)
  })

  it('removes a source with its devices, what it learned and its list; its things and their records stay', async () => {
    const { access, sources, sourceThings, registry, store } = await openAccess()
    const { sourceId, sourceToken } = await sources.create(garden)
    const other = await sources.create({ ...garden, topics: ['other/#'], overlap: true })
    const principals = await Promise.all(
      [sourceToken, other.sourceToken].map(token => access.identify(token)),
    )
    const ids: string[] = []
    for (const principal of principals) {
      if (principal.kind !== 'source') throw new Error('no source')
      ids.push((await sourceThings.thingOf(principal, 'pump', undefined, 'pump'))?.thingId ?? '')
      await store.documents.put({ [`source-facts/${principal.sourceId}/levels/x`]: {} }, 'register')
    }
    const [thingId = '', otherThing] = ids
    await append(store, thingId, 'pressure', '3')
    const refused = { datetime: 1, door: 'mqtt', reason: 'unread_message', message: '', excerpt: '' } as const
    await store.refused.add(sourceId, refused)
    await sources.remove(sourceId)
    await expect(access.identify(sourceToken)).rejects.toMatchObject({ reason: 'invalid_session' })
    await expect(sources.get(sourceId)).rejects.toMatchObject(notFound)
    await expect(sources.change(sourceId, {})).rejects.toMatchObject(notFound)
    await expect(sources.remove(sourceId)).rejects.toMatchObject(notFound)
    const names = async () => (await documentsUnder(store.documents, '')).map(([name]) => name)
    await expect.poll(async () => (await names()).filter(name => name.includes(sourceId))).toEqual([])
    await expect.poll(() => store.refused.list(sourceId, 10)).toEqual([])
    expect((await names()).filter(name => name.includes(other.sourceId))).toHaveLength(3)
    expect(await store.records.resources(thingId)).toEqual(['pressure'])
    const { things } = await registry.list({ limit: 10, among: new Set([thingId]) })
    expect(things).toMatchObject([{ name: 'pump', source: { sourceId, device: 'pump' } }])
    expect(otherThing).not.toBe(thingId)
  })

  it('makes at most 1,000', async () => {
    const { sources } = await openAccess()
    const options = { name: 'many', overlap: true }
    for (let number = 0; number < 1_000; number++) await sources.create(options)
    await expect(sources.create(options)).rejects.toMatchObject({ reason: 'too_many_sources' })
    const [{ sourceId = '' } = {}] = await sources.list()
    await sources.remove(sourceId)
    await sources.create(options)
  })
})

describe('sources of another node', () => {
  it('count here once they are made, changed and removed', async () => {
    const { here, there, elsewhere } = await openNodes()
    const { access, registry, sources } = here
    const served = async () => (await access.topicsOf({ kind: 'admin' })).map(({ filter }) => filter)
    let made = { sourceId: '', sourceToken: '' }
    const topics = [{ filter: 'garden/a/#', access: 'read' }] as const
    await expect(registry.create({ topics })).rejects.toThrow('or add a source')
    await elsewhere(async () => {
      made = await there.sources.create({ ...garden, topics: ['garden/#'] })
    })
    await expect.poll(served).toEqual(['garden/#', 'garden/#'])
    const { thingId } = await registry.create({ topics })
    expect(await access.topicsOf({ kind: 'thing', thingId })).toEqual(topics)
    expect(await access.identify(made.sourceToken)).toMatchObject({ terms: { topics: ['garden/#'] } })
    await expect(sources.create({ ...garden, topics: ['garden/b'] })).rejects.toMatchObject(overlap)

    await elsewhere(() => there.sources.change(made.sourceId, { topics: ['yard/#'] }))
    await expect.poll(served).toEqual(['yard/#', 'yard/#'])
    expect(await access.identify(made.sourceToken)).toMatchObject({ terms: { topics: ['yard/#'] } })
    expect(await access.topicsOf({ kind: 'thing', thingId })).toEqual([])

    const announced: unknown[] = []
    access.onRevoke(revocation => announced.push(revocation))
    let next = ''
    await elsewhere(async () => {
      next = (await there.sources.renewToken(made.sourceId)).sourceToken
    })
    const before = hashToken(made.sourceToken)
    await expect.poll(() => announced).toContainEqual({ hashes: new Set([before]), principals: new Set() })
    await expect(access.identify(made.sourceToken)).rejects.toMatchObject({ reason: 'invalid_session' })
    expect(await access.identify(next)).toMatchObject({ terms: { topics: ['yard/#'] } })

    await elsewhere(() => there.sources.remove(made.sourceId))
    await expect.poll(served).toEqual([])
    await expect(access.identify(next)).rejects.toMatchObject({ reason: 'invalid_session' })
  })

  it('are read again by a node that has missed what others did', async () => {
    const { here, there } = await openNodes()
    const kept = await here.sources.create({ ...garden, topics: ['kept/#'] })
    await there.sources.list()
    const gone = await here.sources.create({ ...garden, topics: ['gone/#'] })
    there.tell(undefined)
    await expect.poll(() => there.sources.list()).toHaveLength(2)
    await there.sources.remove(gone.sourceId)
    await there.sources.create({ ...garden, topics: ['new/#'] })
    here.tell(undefined)
    const topics = async () => (await here.sources.list()).flatMap(source => source.topics).sort()
    await expect.poll(topics).toEqual(['kept/#', 'new/#'])
    expect(await here.sources.get(kept.sourceId)).toMatchObject({ topics: ['kept/#'] })
  })
})
