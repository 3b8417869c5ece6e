import { afterEach, describe, expect, it } from 'vitest'
import type { Append, DriverRecords, Store, StoreDriver } from '../../src/store/contract.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { openStore } from '../../src/store/open-store.ts'
import { alterAppends, alterPuts } from '../helpers/altered-driver.ts'

/** A memory store whose appends and puts begin only when they are let through. */
function heldStore() {
  const driver = createMemoryStore()
  const begun: Append[] = []
  const closed: string[] = []
  let open: () => void = () => {}
  const gate = new Promise<void>(resolve => (open = resolve))
  alterAppends(driver, append => async (write, waiting) => {
    begun.push(write)
    await gate
    return await append(write, waiting)
  })
  alterPuts(driver, put => async (...call) => {
    await gate
    return await put(...call)
  })
  const held = { ...driver, close: async () => void closed.push('driver') }
  return { driver: held, begun, closed, letThrough: () => open() }
}

function write(values: Partial<Append> = {}): Append {
  const record = { key: 'temperature', datetime: Number.NaN, value: '1', place: 0, explicit: false }
  const fixed = { thingId: 'thing', records: [record], store: true, answer: {} }
  return { ...fixed, broadcast: true, ...values }
}

let store: Store | undefined
afterEach(async () => {
  await store?.close()
  store = undefined
})

async function open(driver: StoreDriver, storeTimeout?: number): Promise<Store> {
  store = await openStore(driver, storeTimeout === undefined ? {} : { storeTimeout })
  return store
}

const page = { order: 'asc', limit: 10 } as const
const rejected = { index: 0, field: 'key', reason: 'invalid_key', message: 'no' } as const

describe('openStore()', () => {
  it('passes on what the driver says when it cannot be opened', async () => {
    const refusal = new Error('held by another process')
    await expect(openStore({ ...createMemoryStore(), open: () => Promise.reject(refusal) })).rejects.toBe(
      refusal,
    )
  })

  it('append() gives a copy in flight the answer of the first, and the driver one write', async () => {
    const { driver, begun, letThrough } = heldStore()
    const { records } = await open(driver)
    const first = records.append(write({ id: 'a', answer: { rejected: [rejected] } }))
    const copy = records.append(write({ id: 'a' }))
    const elsewhere = records.append(write({ id: 'a', thingId: 'other' }))
    letThrough()
    expect((await first).writeNumber).toBeGreaterThan(0)
    expect(await copy).toEqual({ writeNumber: 0, answer: { rejected: [rejected] } })
    expect((await elsewhere).answer).toEqual({})
    expect(begun.map(each => each.thingId)).toEqual(['thing', 'other'])
  })

  it('append() gives a copy in flight that carries documents to the driver, behind the first', async () => {
    const { driver, begun, letThrough } = heldStore()
    const { records, documents } = await open(driver)
    const first = records.append(write({ id: 'a', answer: { rejected: [rejected] } }))
    const copy = records.append(write({ id: 'a', documents: { mark: { copy: 1 } } }))
    const bare = records.append(write({ id: 'a' }))
    expect(begun).toHaveLength(2)
    letThrough()
    expect((await first).writeNumber).toBeGreaterThan(0)
    expect(await copy).toEqual({ writeNumber: 0, answer: { rejected: [rejected] } })
    expect(await bare).toEqual({ writeNumber: 0, answer: { rejected: [rejected] } })
    expect(begun).toHaveLength(2)
    expect(await documents.get('mark')).toEqual({ copy: 1 })
  })

  it('append() takes the time limit of its write, and drops what has not begun by then', async () => {
    const { driver, letThrough } = heldStore()
    const { records } = await open(driver, 20)
    await expect(records.append(write())).rejects.toMatchObject({ reason: 'store_timeout' })
    letThrough()
    expect((await records.append(write())).writeNumber).toBe(1)
    expect((await records.read('thing', 'temperature', page))?.records).toHaveLength(1)
  })

  it('put() takes the time limit of an append, and drops what has not begun by then', async () => {
    const { driver, letThrough } = heldStore()
    const { documents } = await open(driver, 20)
    await expect(documents.put({ a: { is: 'late' } }, 'keep')).rejects.toMatchObject({
      reason: 'store_timeout',
    })
    letThrough()
    await documents.put({ b: { is: 'in time' } }, 'keep')
    expect(await documents.list('', { limit: 10 })).toEqual([['b', { is: 'in time' }]])
  })

  it('append() keeps a copy from the driver while the first is with it, even after its time limit', async () => {
    const { driver, begun, letThrough } = heldStore()
    const { records } = await open(driver, 20)
    await expect(records.append(write({ id: 'a' }))).rejects.toMatchObject({ reason: 'store_timeout' })
    await expect(records.append(write({ id: 'a' }))).rejects.toMatchObject({ reason: 'store_timeout' })
    expect(begun).toHaveLength(1)
    letThrough()
  })

  it('append() takes a write id again once its first write has failed', async () => {
    const driver = createMemoryStore()
    const full = new Error('no disk')
    let failing = true
    alterAppends(driver, append => async (...call) => {
      if (failing) throw full
      return await append(...call)
    })
    const { records } = await open(driver)
    await expect(records.append(write({ id: 'a' }))).rejects.toBe(full)
    failing = false
    expect((await records.append(write({ id: 'a' }))).writeNumber).toBe(1)
  })

  it('answerOf() waits for a write in flight', async () => {
    const { driver, letThrough } = heldStore()
    const { records } = await open(driver)
    const first = records.append(write({ id: 'a', answer: { rejected: [rejected] } }))
    const answer = records.answerOf('thing', 'a', 1_000)
    letThrough()
    await first
    expect(await answer).toEqual({ rejected: [rejected] })
  })

  it('close() waits for what was called before it, and closes the driver once', async () => {
    const { driver, closed, letThrough } = heldStore()
    const { records, close } = await open(driver)
    const append = records.append(write()).then(() => closed.push('append'))
    const closing = [close(), close()]
    letThrough()
    await Promise.all([...closing, append])
    expect(closed).toEqual(['append', 'driver'])
  })

  it('close() waits for an append that the driver still has after its time limit', async () => {
    const { driver, closed, letThrough } = heldStore()
    const { records, close } = await open(driver, 20)
    await expect(records.append(write())).rejects.toMatchObject({ reason: 'store_timeout' })
    const closing = close()
    await new Promise(resolve => setImmediate(resolve))
    expect(closed).toEqual([])
    letThrough()
    await closing
    expect(closed).toEqual(['driver'])
  })

  it('close() waits for a put that the driver still has after its time limit', async () => {
    const { driver, closed, letThrough } = heldStore()
    const { documents, close } = await open(driver, 20)
    await expect(documents.put({ a: {} }, 'keep')).rejects.toMatchObject({ reason: 'store_timeout' })
    const closing = close()
    await new Promise(resolve => setImmediate(resolve))
    expect(closed).toEqual([])
    letThrough()
    await closing
    expect(closed).toEqual(['driver'])
  })

  it('close() breaks off a backup before the driver is closed, and its reader learns of it', async () => {
    const order: string[] = []
    async function* backup() {
      try {
        for (;;) yield new Uint8Array(1)
      } finally {
        order.push('backup')
      }
    }
    const { backup: read, close } = await open({
      ...createMemoryStore(),
      backup,
      close: async () => void order.push('driver'),
    })
    const reader = read()[Symbol.asyncIterator]()
    await reader.next()
    await close()
    expect(order).toEqual(['backup', 'driver'])
    await expect(reader.next()).rejects.toMatchObject({ reason: 'store_unavailable' })
  })

  it('close() closes every snapshot before the driver, once, however it was closed or asked for', async () => {
    const driver = createMemoryStore()
    const order: string[] = []
    let count = 0
    const snapshot: DriverRecords['snapshot'] = async () => {
      const taken = await driver.records.snapshot()
      const name = `snapshot ${++count}`
      return { ...taken, close: async () => void order.push(name) }
    }
    const { records, close } = await open({
      ...driver,
      records: { ...driver.records, snapshot },
      close: async () => void order.push('driver'),
    })
    const first = await records.snapshot()
    await Promise.all([first.close(), first.close()])
    const second = await records.snapshot()
    const third = records.snapshot()
    await close()
    expect(order.slice(0, 1)).toEqual(['snapshot 1'])
    expect(order.slice(1, 3).sort()).toEqual(['snapshot 2', 'snapshot 3'])
    expect(order.slice(3)).toEqual(['driver'])
    await Promise.all([second.close(), (await third).close()])
    expect(order).toHaveLength(4)
  })

  it('isReady() is false once close() was called, and what the driver says before', async () => {
    let ready = true
    const opened = await open({ ...createMemoryStore(), isReady: () => ready })
    expect(opened.isReady()).toBe(true)
    ready = false
    expect(opened.isReady()).toBe(false)
    ready = true
    const closing = opened.close()
    expect(opened.isReady()).toBe(false)
    await closing
  })
})
