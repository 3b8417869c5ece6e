import { describe, expect, it } from 'vitest'
import { openHost, reasonOf } from '../host.ts'

const time = (second: number) => `2026-01-01T00:00:0${second}.000Z`
const at = (long: number, second: number) => ({ key: '$geo', value: [long, 0], datetime: time(second) })
const position = (long: number, second: number) => ({
  key: '$geo',
  value: { type: 'Point', coordinates: [long, 0] },
  datetime: time(second),
})

async function openMagicHost() {
  const host = await openHost()
  const get = async (path: string, accept = '*/*') =>
    await host.inject({ url: `${host.path}/${path}`, headers: { accept } })
  return {
    ...host,
    get,
    read: async (path: string) => (await get(path)).json(),
    write: async (...values: object[]) => {
      await host.write(...values)
      await host.things.magic.whenApplied()
    },
  }
}

// What becomes of each form of write is the table of test/magic/cases.
describe('GET …/resources/$geo', () => {
  it('gives the position, and the track where more or another part of it is asked for', async () => {
    const { read, write } = await openMagicHost()
    await write(at(2, 2))
    await write(at(1, 1), at(3, 3))
    for (const query of ['', '?limit=1', '?order=desc']) {
      expect(await read(`resources/$geo${query}`)).toEqual([position(3, 3)])
    }
    const track = [position(3, 3), position(2, 2), position(1, 1)]
    expect(await read('resources/%24geo?limit=5')).toEqual(track)
    expect(await read('resources/$geo?order=asc')).toEqual([position(1, 1)])
    expect(await read(`resources/$geo?endDate=${time(3)}`)).toEqual([position(2, 2)])
    expect(await read(`resources/$geo?startDate=${time(9)}`)).toEqual([])
  })

  it('walks the track by its pages', async () => {
    const { get, write } = await openMagicHost()
    await write(at(1, 1), at(2, 2), at(3, 3))
    const first = await get('resources/$geo?limit=2')
    const [, query = ''] = /^<(.+)>/.exec(String(first.headers.link)) ?? []
    expect((await get(`resources/$geo${query}`)).json()).toEqual([position(1, 1)])
    const shorter = query.replace('limit=2', 'limit=1')
    expect((await get(`resources/$geo${shorter}`)).json()).toEqual([position(1, 1)])
    expect((await get('resources/$geo')).headers.link).toBeUndefined()
  })

  it('exports and aggregates the track', async () => {
    const { get, read, write } = await openMagicHost()
    await write(at(3, 3))
    await write(at(1, 1))
    expect((await get('resources/$geo?limit=1&order=asc', 'text/csv')).body).toContain(time(1))
    expect((await get('resources/$geo', 'application/x-ndjson')).body.trim().split('\n')).toHaveLength(2)
    expect((await get('resources/$geo?limit=1', 'application/x-ndjson')).body).toContain(time(3))
    expect(await read('resources/$geo?aggregate=count&interval=1m')).toMatchObject([{ count: 2 }])
  })

  it('answers 404 before the first position, and an empty array for a removed one', async () => {
    const { get, read, things, thingId, write } = await openMagicHost()
    expect(reasonOf(await get('resources/$geo'))).toBe('unknown_resource')
    await write(at(1, 1))
    await things.records.remove(thingId, '$geo', {})
    await things.magic.remove(thingId, '$geo')
    expect(await read('resources/$geo')).toEqual([])
    expect(await read('resources/$geo?limit=2')).toEqual([])
  })

  it('gives the position where all of the track is removed', async () => {
    const { read, things, thingId, write } = await openMagicHost()
    await write(at(1, 1))
    await things.records.remove(thingId, '$geo', { from: 0 })
    expect(await read('resources/$geo')).toEqual([position(1, 1)])
    expect(await read('resources/$geo?limit=2')).toEqual([])
    expect(await read('resources')).toEqual({ resources: ['$geo'] })
    expect(await read('all_resources')).toEqual([{ key: '$geo', values: [position(1, 1)] }])
  })
})

describe('GET …/resources/$settings', () => {
  it('gives the document and what is at a path, dated by the last change', async () => {
    const { read, write, things, thingId } = await openMagicHost()
    await write({ key: '$settings', value: { name: 'pump', limits: { high: 3 } }, datetime: time(1) })
    await write({ key: '$settings.limits.low', value: 1, datetime: time(2) })
    const state = await things.records.state(thingId, '$settings')
    const datetime = new Date(state?.datetime ?? 0).toISOString()
    const item = (key: string, value: unknown) => [{ key, value, datetime }]
    const document = { name: 'pump', limits: { high: 3, low: 1 } }
    expect(datetime > time(9)).toBe(true)
    expect(await read('resources/$settings')).toEqual(item('$settings', document))
    expect(await read('resources/$settings.limits')).toEqual(item('$settings.limits', document.limits))
    expect(await read('resources/$settings.name?limit=1')).toEqual(item('$settings.name', 'pump'))
    expect(await read('resources/$settings.limits.mean')).toEqual(item('$settings.limits.mean', null))
  })

  it('gives what was written under the key where more or a part of it is asked for', async () => {
    const { read, write } = await openMagicHost()
    await write({ key: '$settings', value: { a: null }, datetime: time(1) })
    await write(
      { key: '$settings.a', value: 2, datetime: time(2) },
      { key: '$settings.a', value: 3, datetime: time(3) },
    )
    const values = async (path: string) => (await read(path)).map((item: { value: unknown }) => item.value)
    expect(await values('resources/$settings?limit=9')).toEqual([{ a: null }])
    expect(await values('resources/$settings.a?limit=9')).toEqual([3, 2])
    expect(await values('resources/$settings.a?order=asc')).toEqual([2])
    expect(await values('resources/$settings.b?limit=9')).toEqual([])
  })

  it('knows the document that was written by paths alone', async () => {
    const { read, write } = await openMagicHost()
    await write({ key: '$settings.a', value: 1 })
    expect(await read('resources/$settings')).toMatchObject([{ key: '$settings', value: { a: 1 } }])
    expect(await read('resources/$settings?limit=2')).toEqual([])
    expect(await read('resources')).toEqual({ resources: ['$settings'] })
  })

  it('answers 404 until something is written, and an empty array while there is no document', async () => {
    const { get, read, write } = await openMagicHost()
    for (const key of ['$settings', '$settings.a', '$settings.']) {
      for (const query of ['', '?limit=2', '?order=asc']) {
        expect(reasonOf(await get(`resources/${key}${query}`))).toBe('unknown_resource')
      }
    }
    expect(reasonOf(await get('resources/$settings', 'text/csv'))).toBe('unknown_resource')
    await write({ key: '$settings.a', value: null })
    for (const key of ['$settings', '$settings.a', '$settings.b']) {
      expect(await read(`resources/${key}`)).toEqual([])
    }
  })

  it('does not know a magic resource that there is not', async () => {
    const { get, write } = await openMagicHost()
    await write({ key: '$settings', value: {} }, at(1, 1))
    for (const key of ['$state', '$geo.lat', '$settingsx']) {
      expect(reasonOf(await get(`resources/${key}`))).toBe('unknown_resource')
    }
  })
})

describe('GET …/all_resources', () => {
  it('gives states, or with a limit over 1 what was written', async () => {
    const { read, write } = await openMagicHost()
    await write(at(2, 2), { key: 'depth', value: 1, datetime: time(1) })
    await write(at(1, 1), { key: '$settings', value: { a: 1 }, datetime: time(1) })
    await write({ key: '$settings.b', value: 2, datetime: time(2) })
    const depth = { key: 'depth', values: [{ key: 'depth', value: 1, datetime: time(1) }] }
    expect(await read('all_resources')).toMatchObject([
      { key: '$geo', values: [position(2, 2)] },
      { key: '$settings', values: [{ key: '$settings', value: { a: 1, b: 2 } }] },
      depth,
    ])
    expect(await read('all_resources?limit=5')).toEqual([
      { key: '$geo', values: [position(2, 2), position(1, 1)] },
      { key: '$settings', values: [{ key: '$settings', value: { a: 1 }, datetime: time(1) }] },
      depth,
    ])
  })
})
