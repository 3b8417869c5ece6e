import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { openHost, reasonOf } from './host.ts'

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

  it('says when the clock is behind', async () => {
    const driver = createMemoryStore()
    const ahead = { ...driver, records: { ...driver.records, newestReceipt: () => Date.now() + 1e9 } }
    const { inject } = await openHost({ driver: ahead })
    expect((await inject({ url: '/readyz' })).json()).toEqual({ status: 'ready', clock_behind: true })
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
