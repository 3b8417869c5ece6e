import { EventEmitter, once } from 'node:events'
import { rm, stat, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { ClassicLevel } from 'classic-level'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import type { DocumentPut, PutPurpose, RefusedWrite } from '../../../../src/store/contract.ts'
import { DiskSpace } from '../../../../src/store/level/database/disk-space.ts'
import { Reserve } from '../../../../src/store/level/database/reserve.ts'
import { createLevelStore } from '../../../../src/store/level/index.ts'
import { openStore } from '../../../../src/store/open-store.ts'
import { temporaryDirectory } from '../../../helpers/temporary-directory.ts'
import { smallFileSystem } from '../../../machine-fault/small-file-system.ts'
import { writeBatches } from '../write-batches.ts'

const thingId = 'aaaaaaaaaaaaaaaa'
const full = Number.MAX_SAFE_INTEGER
const write = {
  thingId,
  records: [{ key: 'depth', datetime: 1, value: '1', place: 0, explicit: true }],
  store: true,
  broadcast: true,
  answer: {},
}

test('a store short of disk refuses what it would keep, and goes on with all else', async () => {
  const location = join(await temporaryDirectory(), 'store')
  const wide = await openStore(createLevelStore({ location }))
  await wide.records.append({ ...write, id: 'known' })
  await wide.close()

  const short = await openStore(createLevelStore({ location, minFreeSpace: full }))
  const storeFull = { reason: 'store_full' }
  await expect(short.records.append(write)).rejects.toMatchObject(storeFull)
  await expect(short.records.append({ ...write, store: false, id: 'new' })).rejects.toMatchObject(storeFull)
  expect(await short.records.append({ ...write, id: 'known' })).toMatchObject({ writeNumber: 0 })
  expect(await short.records.append({ ...write, store: false })).toMatchObject({ answer: {} })
  expect((await short.records.read(thingId, 'depth', { order: 'asc', limit: 9 }))?.records).toHaveLength(1)
  const documents = { watermark: { is: 1 } }
  await expect(short.records.append({ ...write, documents })).rejects.toMatchObject(storeFull)
  expect(await short.documents.get('watermark')).toBeUndefined()
  await short.records.append({ ...write, id: 'known', documents })
  expect(await short.documents.get('watermark')).toEqual({ is: 1 })
  await short.documents.put({ watermark: null }, 'keep')
  expect(await short.documents.get('watermark')).toBeUndefined()
  expect(short.isReady()).toBe(true)
  await short.close()
})

afterEach(() => {
  vi.restoreAllMocks()
})

function refusal(message: string): RefusedWrite {
  return { datetime: 1, door: 'http', reason: 'invalid_key', message, excerpt: '' }
}

test('a store short of disk puts no refused write', async () => {
  const location = join(await temporaryDirectory(), 'store')
  const wide = await openStore(createLevelStore({ location }))
  for (const message of ['a', 'b']) await wide.refused.add(thingId, refusal(message))
  await wide.close()

  const short = await openStore(createLevelStore({ location, minFreeSpace: full }))
  for (const message of ['c', 'd']) await short.refused.add(thingId, refusal(message))
  const messages = async (store: typeof short, limit = 10) =>
    (await store.refused.list(thingId, limit)).map(({ message }) => message)
  expect(await messages(short)).toEqual(['d', 'c', 'b', 'a'])
  expect(await messages(short, 3)).toEqual(['d', 'c', 'b'])
  for (let number = 0; number < 150; number++) await short.refused.add(thingId, refusal(String(number)))
  expect(await messages(short, 1_000)).toHaveLength(100)
  await short.close()

  const reopened = await openStore(createLevelStore({ location, minFreeSpace: full }))
  expect(await messages(reopened)).toEqual(['b', 'a'])
  await reopened.refused.add(thingId, refusal('e'))
  await reopened.records.removeThing(thingId)
  expect(await messages(reopened)).toEqual([])
  await reopened.close()
})

const puts = {
  keep: { wide: 'put', short: 'refused', full: 'refused' },
  register: { wide: 'put', short: 'put', full: 'refused' },
  essential: { wide: 'put', short: 'put', full: 'put' },
} as const satisfies Record<PutPurpose, unknown>

test.each(['wide', 'short', 'full'] as const)(
  'what is put on a disk that is %s, by its purpose',
  async disk => {
    const { path } = await smallFileSystem('tmpfs', 64 * 1024 * 1024, onTestFinished)
    const location = join(path, 'store')
    const before = await openStore(createLevelStore({ location }))
    await before.documents.put({ old: {} }, 'essential')
    await vi.waitFor(() => stat(join(location, 'RESERVE')), { timeout: 60_000 })
    await before.close()
    const { bavail, bsize } = await statfs(path)
    if (disk === 'full') await writeFile(join(path, 'filler'), Buffer.alloc(bavail * bsize - 1024 * 1024))
    const store = await openStore(createLevelStore({ location, minFreeSpace: disk === 'wide' ? 0 : full }))
    onTestFinished(() => store.close())
    const names = async () => (await store.documents.list('', { limit: 9 })).map(([name]) => name)
    for (const purpose of Object.keys(puts) as PutPurpose[]) {
      const isPut = puts[purpose][disk] === 'put'
      const put = (documents: DocumentPut) => store.documents.put(documents, purpose)
      const transact = (documents: DocumentPut) =>
        store.documents.transact([], () => ({ put: documents, result: undefined, purpose }))
      for (const call of [put, transact]) {
        // A put that removes something is no removal.
        const putting = call({ new: { purpose }, old: null })
        if (isPut) await putting
        else await expect(putting).rejects.toMatchObject({ reason: 'store_full' })
        expect(await names()).toEqual(isPut ? ['new'] : ['old'])
        await call({ new: null })
        await store.documents.put({ old: {} }, 'essential')
        await call({})
      }
    }
    // With a write that takes no room, documents are essential.
    await store.records.append({ ...write, store: false, documents: { with: {} } })
    expect(await store.documents.get('with')).toEqual({})
  },
)

/** Has batches fail as on a full disk from now on, while `isFull` says so. */
function failForSpace(isFull: () => boolean): void {
  writeBatches(async writeIt => {
    if (!isFull()) return await writeIt()
    throw Object.assign(new Error('IO error: 000003.log: No space left on device'), {
      code: 'LEVEL_IO_ERROR',
    })
  })
}

test('a store that fails for want of space gives its reserve up, reads on, and takes what removes', async () => {
  // The disk is looked at when the test waits for it, and not between two of its lines.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const location = join(await temporaryDirectory(), 'store')
  const store = await openStore(createLevelStore({ location }))
  await store.records.append(write)
  const reserve = join(location, 'RESERVE')
  await vi.waitFor(async () => expect((await stat(reserve)).size).toBe(32 * 1024 * 1024), { timeout: 60_000 })
  let isFull = true
  failForSpace(() => isFull)
  const storeFull = { reason: 'store_full' }
  const failing = expect(store.records.append({ ...write, id: 'a' })).rejects.toThrow()
  expect((await store.records.read(thingId, 'depth', { order: 'asc', limit: 9 }))?.records).toHaveLength(1)
  await failing
  isFull = false
  expect(store.isReady()).toBe(true)
  await expect(stat(reserve)).rejects.toThrow('ENOENT')
  await expect(store.records.append(write)).rejects.toMatchObject(storeFull)
  await expect(store.documents.put({ asked: {} }, 'register')).rejects.toMatchObject(storeFull)
  await store.documents.put({ needed: {} }, 'essential')
  expect(await store.records.remove(thingId, 'depth', {})).toBe(1)
  await vi.waitFor(() => store.records.append(write), { timeout: 60_000 })
  expect((await stat(reserve)).size).toBe(32 * 1024 * 1024)
  await store.close()
})

test.each([
  ['the reserve that was there', 1, true],
  ['that no reserve is there', 1, false],
  ['the reserve that it has made', 2, false],
])(
  'a check that has seen %s before space failed does not say that there is space',
  async (_, looks, isMade) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const location = await temporaryDirectory()
    if (isMade) await new Reserve(location).make(32 * 1024 * 1024, () => true)
    const space = new DiskSpace(location, 0)
    await space.start()
    const isThere = Reserve.prototype.isThere
    const checks = new EventEmitter()
    const seen = once(checks, 'seen')
    const told = once(checks, 'told')
    let left = looks
    vi.spyOn(Reserve.prototype, 'isThere').mockImplementation(async function (this: Reserve, bytes) {
      const answer = await isThere.call(this, bytes)
      if (--left === 0) {
        checks.emit('seen')
        await told
      }
      return answer
    })
    vi.runOnlyPendingTimers()
    await seen
    await space.giveUpReserve()
    checks.emit('told')
    while (vi.getTimerCount() === 0) await setImmediate()
    expect(space.isFull).toBe(true)
    await expect(stat(join(location, 'RESERVE'))).rejects.toThrow('ENOENT')
    vi.runOnlyPendingTimers()
    while (vi.getTimerCount() === 0) await setImmediate()
    expect(space.isFull).toBe(false)
    await space.stop()
  },
)

test('a store that has room again takes writes, though documents are put all the time', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const location = await temporaryDirectory()
  const space = new DiskSpace(location, 0)
  await space.start()
  await space.giveUpReserve()
  let puts = 0
  const make = Reserve.prototype.make
  vi.spyOn(Reserve.prototype, 'make').mockImplementation(async function (this: Reserve, bytes, isWanted) {
    const making = make.call(this, bytes, isWanted)
    await space.makeRoom()
    puts++
    return await making
  })
  vi.runOnlyPendingTimers()
  while (vi.getTimerCount() === 0) await setImmediate()
  expect({ puts, isFull: space.isFull }).toEqual({ puts: 1, isFull: false })
  await space.stop()
})

test('a disk that has been filled since the last look is short at once', async () => {
  const { path } = await smallFileSystem('tmpfs', 16 * 1024 * 1024, onTestFinished)
  const space = new DiskSpace(path, 8 * 1024 * 1024)
  await space.start()
  expect(await space.isShortNow()).toBe(false)
  await writeFile(join(path, 'filler'), Buffer.alloc(12 * 1024 * 1024))
  expect(space.isShort).toBe(false)
  expect(await space.isShortNow()).toBe(true)
  await space.stop()
})

test('reads go on while a store that has lacked space is opened anew', async () => {
  const location = join(await temporaryDirectory(), 'store')
  const store = await openStore(createLevelStore({ location }))
  onTestFinished(() => store.close())
  await store.records.append(write)
  let isFull = true
  failForSpace(() => isFull)
  const steps = new EventEmitter()
  const closing = once(steps, 'closing')
  const goesOn = once(steps, 'goesOn')
  // In front of the closing: that would wait for a store that is held.
  onTestFinished(() => void steps.emit('goesOn'))
  const close = ClassicLevel.prototype.close
  vi.spyOn(ClassicLevel.prototype, 'close').mockImplementationOnce(async function (this: ClassicLevel) {
    const closed = close.call(this)
    steps.emit('closing')
    await goesOn
    await closed
  })
  const failing = expect(store.records.append({ ...write, id: 'a' })).rejects.toThrow()
  await closing
  isFull = false
  expect(store.isReady()).toBe(true)
  const reads = [
    store.records.read(thingId, 'depth', { order: 'asc', limit: 9 }),
    store.records.resources(thingId),
    store.refused.list(thingId, 9),
    store.documents.get('watermark'),
  ]
  steps.emit('goesOn')
  expect(await Promise.all(reads)).toMatchObject([{ records: [{ value: '1' }] }, ['depth'], [], undefined])
  await failing
})

test('the reserve is no part of the size of a store, and a store without it is whole', async () => {
  const location = join(await temporaryDirectory(), 'store')
  const store = await openStore(createLevelStore({ location }))
  const reserve = join(location, 'RESERVE')
  await vi.waitFor(() => stat(reserve), { timeout: 60_000 })
  expect((await store.size()).bytes).toBeLessThan(1024 * 1024)
  await store.close()
  await rm(reserve, { force: true })
  await (await openStore(createLevelStore({ location }))).close()
})
