import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createMemoryStore } from '../../../src/store/memory/index.ts'
import { openHost, reasonOf } from '../host.ts'

describe('/healthz', () => {
  it('answers as long as the process does', async () => {
    const { inject } = await openHost({ plugin: { isDraining: () => true } })
    const answer = await inject({ url: '/healthz' })
    expect([answer.statusCode, answer.body]).toEqual([200, '{"status":"ok"}'])
    expect(answer.headers['content-type']).toBe('application/json')
  })
})

describe('/readyz', () => {
  it('says ready', async () => {
    const { inject } = await openHost()
    const answer = await inject({ url: '/readyz/' })
    expect([answer.statusCode, answer.body]).toEqual([200, '{"status":"ready"}'])
  })

  it('says when the clock is 60 s behind the newest receipt time, or more', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const now = Date.now()
    const { inject, write } = await openHost()
    await write({ key: 'k', value: 1 })
    const ready = async () => (await inject({ url: '/readyz' })).json()
    vi.setSystemTime(now - 59_999)
    expect(await ready()).toEqual({ status: 'ready' })
    vi.setSystemTime(now - 60_000)
    expect(await ready()).toEqual({ status: 'ready', clock_behind: true })
    vi.setSystemTime(now)
    expect(await ready()).toEqual({ status: 'ready' })
  })

  it('says that receipt times have gone back, for good, once a clock far behind them was believed', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance', 'setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const now = Date.now()
    const { inject, write } = await openHost()
    vi.setSystemTime(now + 2 * 86_400_000)
    await write({ key: 'k', value: 1 })
    vi.setSystemTime(now)
    const ready = async () => (await inject({ url: '/readyz' })).json()
    expect(await ready()).toEqual({ status: 'ready', clock_behind: true })
    vi.advanceTimersByTime(11 * 60_000)
    expect(await ready()).toEqual({ status: 'ready', clock_stepped_back: true })
  })

  it('answers 503 while the host is stopping, and without a store', async () => {
    const stopping = await openHost({ plugin: { isDraining: () => true } })
    const draining = await stopping.inject({ url: '/readyz' })
    expect([draining.statusCode, reasonOf(draining)]).toEqual([503, 'draining'])
    expect(draining.headers['retry-after']).toBe('5')
    const away = await openHost({ driver: { ...createMemoryStore(), isReady: () => false } })
    const unavailable = await away.inject({ url: '/readyz' })
    expect([unavailable.statusCode, reasonOf(unavailable)]).toEqual([503, 'store_unavailable'])
  })
})
