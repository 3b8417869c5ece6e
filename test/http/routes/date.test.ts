import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createToken } from '../../../src/core/token.ts'
import { openHost, reasonOf } from '../host.ts'

describe('GET /v2/utils/date', () => {
  it('gives the time of the server as text or as whole seconds', async () => {
    const { inject, thingToken } = await openHost()
    const url = `/v2/utils/date?thingToken=${thingToken}`
    const before = Date.now()
    const [utc] = (await inject({ url })).json()
    expect(Object.keys(utc)).toEqual(['key', 'value'])
    expect(utc.key).toBe('date')
    expect(new Date(utc.value).toISOString()).toBe(utc.value)
    expect(Date.parse(utc.value)).toBeGreaterThanOrEqual(before)
    expect((await inject({ url: `${url}&format=UTC` })).json()).toMatchObject([{ key: 'date' }])
    const [seconds] = (await inject({ url: `${url}&format=unix_timestamp` })).json()
    expect(Number.isInteger(seconds.value)).toBe(true)
    expect(seconds.value).toBeGreaterThanOrEqual(Math.floor(before / 1000))
  })

  it('gives the time of receipt times where the clock is behind them', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-11-25T12:00:00Z') })
    onTestFinished(() => void vi.useRealTimers())
    const { inject, thingToken, write } = await openHost()
    await write({ key: 'k', value: 1 })
    vi.setSystemTime(Date.parse('2026-11-25T11:00:00Z'))
    const [utc] = (await inject({ url: `/v2/utils/date?thingToken=${thingToken}` })).json()
    expect(utc.value).toBe('2026-11-25T12:00:00.000Z')
  })

  it('refuses a missing token, an unknown one, and another format', async () => {
    const { inject, thingToken } = await openHost()
    const get = async (query: string) => {
      const answer = await inject({ url: `/v2/utils/date?${query}` })
      return [answer.statusCode, reasonOf(answer)]
    }
    expect(await get('')).toEqual([400, 'missing_thing_token'])
    expect(await get('thingToken=')).toEqual([400, 'missing_thing_token'])
    expect(await get(`thingToken=${createToken()}`)).toEqual([401, 'unknown_thing_token'])
    expect(await get('thingToken=x')).toEqual([401, 'unknown_thing_token'])
    expect(await get(`thingToken=${thingToken}&format=ISO`)).toEqual([400, 'invalid_query'])
    expect(await get(`thingToken=${thingToken}&format=`)).toEqual([400, 'invalid_query'])
  })
})
