import { describe, expect, it } from 'vitest'
import { Counted } from '../../../src/server/metrics/registry.ts'
import { createMemoryStore } from '../../../src/store/memory/index.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { eventually } from '../../mqtt/door-service.ts'

describe('Counted', () => {
  it('counts the documents of its kind, and not again for each who asks', async () => {
    const { documents } = await openStore(createMemoryStore())
    const names = Array.from({ length: 2_500 }, (_, number) => `things/${number}`)
    await documents.put(Object.fromEntries([...names, 'tokens/1'].map(name => [name, {}])), 'keep')
    const counted = new Counted(documents, 'things/')
    await eventually(() => counted.read()).toBe(2_500)
    await documents.put({ 'things/more': {} }, 'keep')
    expect(await counted.read()).toBe(2_500)
  })

  it('has no count while the store is away, and counts when it is back', async () => {
    const { documents } = await openStore(createMemoryStore())
    await documents.put({ 'things/1': {} }, 'keep')
    let isAway = true
    const list: typeof documents.list = async (prefix, page) => {
      if (isAway) throw new Error('away')
      return await documents.list(prefix, page)
    }
    const counted = new Counted({ list }, 'things/')
    expect(await counted.read()).toBeUndefined()
    isAway = false
    await eventually(() => counted.read()).toBe(1)
  })
})
