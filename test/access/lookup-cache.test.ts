import { describe, expect, it } from 'vitest'
import { LookupCache } from '../../src/access/lookup-cache.ts'
import { createGate } from '../helpers/gate.ts'

describe('LookupCache', () => {
  it('get() looks a key up once, however many ask at the same time or later', async () => {
    const asked: string[] = []
    const cache = new LookupCache(async key => {
      asked.push(key)
      return key.toUpperCase()
    }, 10)
    expect(await Promise.all([cache.get('a'), cache.get('a'), cache.get('b')])).toEqual(['A', 'A', 'B'])
    expect(await cache.get('a')).toBe('A')
    expect(asked).toEqual(['a', 'b'])
  })

  it('get() answers in the order of the calls, also one that comes as the look-up ends', async () => {
    const gate = createGate()
    const answered: number[] = []
    const ask = async (call: number) => {
      await cache.get('a')
      answered.push(call)
    }
    const calls: Promise<void>[] = []
    const cache = new LookupCache(async () => {
      await gate.pass()
      queueMicrotask(() => calls.push(ask(3)))
      return 'A'
    }, 10)
    calls.push(ask(1), ask(2))
    gate.open()
    await Promise.all(calls)
    await Promise.all(calls)
    expect(answered).toEqual([1, 2, 3])
  })

  it('get() does not keep what was not found, nor a look-up that failed', async () => {
    const answers = [async () => undefined, () => Promise.reject(new Error('away')), async () => 'A']
    const cache = new LookupCache(async () => answers.shift()?.(), 10)
    expect(await cache.get('a')).toBeUndefined()
    await expect(cache.get('a')).rejects.toThrow('away')
    expect(await cache.get('a')).toBe('A')
  })

  it('get() looks up again what was forgotten while it was being looked up', async () => {
    const gate = createGate()
    let stored: string | undefined = 'old'
    const cache = new LookupCache(async () => {
      const found = stored
      await gate.pass()
      return found
    }, 10)
    const found = cache.get('a')
    await gate.reached
    stored = undefined
    cache.forget('a')
    gate.open()
    expect(await found).toBeUndefined()
    expect(await cache.get('a')).toBeUndefined()
  })

  it('keeps no more than its capacity, and drops the oldest', async () => {
    const asked: string[] = []
    const cache = new LookupCache(async key => {
      asked.push(key)
      return key
    }, 2)
    for (const key of ['a', 'b', 'c', 'b', 'c', 'a']) await cache.get(key)
    expect(asked).toEqual(['a', 'b', 'c', 'a'])
  })

  it('what is not found drops nothing that is kept', async () => {
    const asked: string[] = []
    const cache = new LookupCache(async key => {
      asked.push(key)
      return key.startsWith('unknown') ? undefined : key
    }, 2)
    await cache.get('a')
    await cache.get('b')
    await Promise.all(Array.from({ length: 100 }, (_, number) => cache.get(`unknown${number}`)))
    asked.length = 0
    await cache.get('a')
    await cache.get('b')
    expect(asked).toEqual([])
  })
})
