import { describe, expect, it } from 'vitest'
import { asAdmin, openHost, reasonOf } from '../host.ts'

const values = [1, 2, 3].map(value => ({ key: 'k', value, datetime: `2026010${value}000000` }))

describe('DELETE …/resources/<key>', () => {
  it('removes a range for the admin, then the rest', async () => {
    const { inject, thingId, path, write } = await openHost()
    await write(...values, { key: 'other', value: 1 })
    const url = `/v2/things/${thingId}/resources/k`
    const range = 'startDate=20260102000000&endDate=20260103000000'
    const some = await inject({ method: 'DELETE', url: `${url}?${range}`, headers: asAdmin })
    expect([some.statusCode, some.body]).toEqual([200, '{"status":"success","deleted":1}'])
    const left = (await inject({ url: `${path}/resources/k?limit=9` })).json()
    expect(left).toMatchObject([{ value: 3 }, { value: 1 }])
    const headers = { ...asAdmin, 'content-type': 'application/json' }
    expect((await inject({ method: 'DELETE', url, headers })).json().deleted).toBe(2)
    expect((await inject({ url: `${path}/resources/k` })).body).toBe('[]')
    expect((await inject({ method: 'DELETE', url, headers })).body).toBe('{"status":"success","deleted":0}')
    expect((await inject({ url: `${path}/resources` })).json()).toEqual({ resources: ['other'] })
  })

  it('refuses a thing token unless things may delete', async () => {
    const { inject, path, write } = await openHost()
    await write(...values)
    const answer = await inject({ method: 'DELETE', url: `${path}/resources/k` })
    expect(answer.statusCode).toBe(403)
    expect(reasonOf(answer)).toBe('forbidden')
    const open = await openHost({ allowThingDelete: true })
    await open.write(...values)
    const allowed = await open.inject({ method: 'DELETE', url: `${open.path}/resources/k` })
    expect(allowed.json().deleted).toBe(3)
  })

  it('answers 404 for a key that was never written and 400 for no real range', async () => {
    const { inject, thingId, write } = await openHost()
    await write(...values)
    const remove = async (rest: string) =>
      reasonOf(
        await inject({ method: 'DELETE', url: `/v2/things/${thingId}/resources/${rest}`, headers: asAdmin }),
      )
    expect(await remove('other')).toBe('unknown_resource')
    expect(await remove('a%20b')).toBe('unknown_resource')
    expect(await remove('k?startDate=x')).toBe('invalid_range')
  })

  it('removes of $settings what was written under every path, and counts it', async () => {
    const { inject, things, thingId, path, write } = await openHost()
    const url = `/v2/things/${thingId}/resources/$settings`
    const remove = async () => await inject({ method: 'DELETE', url, headers: asAdmin })
    expect(reasonOf(await remove())).toBe('unknown_resource')
    await write(
      { key: '$settings', value: { a: 1 } },
      { key: '$settings.b.c', value: 2 },
      { key: 'k', value: 3 },
    )
    await write({ key: '$settings.b.c', value: 3 })
    expect((await remove()).json()).toEqual({ status: 'success', deleted: 3 })
    expect(await things.records.state(thingId, '$settings')).toBeUndefined()
    expect((await inject({ url: `${path}/resources` })).json()).toEqual({ resources: ['k'] })
    expect((await remove()).json()).toEqual({ status: 'success', deleted: 0 })
  })

  it('removes a state that was not applied yet when it was asked to', async () => {
    const { inject, things, thingId, write } = await openHost()
    const url = `/v2/things/${thingId}/resources/$geo`
    for (let round = 0; round < 20; round++) {
      await write(...Array.from({ length: 50 }, () => ({ key: '$geo', value: [round, 0] })))
      const answer = await inject({ method: 'DELETE', url, headers: asAdmin })
      expect(answer.json().deleted).toBe(50)
      expect(await things.records.state(thingId, '$geo')).toBeUndefined()
    }
    await things.magic.whenApplied()
    expect(await things.records.state(thingId, '$geo')).toBeUndefined()
  })
})
