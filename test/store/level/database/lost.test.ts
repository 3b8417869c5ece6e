import { cp, mkdir, rename, rm, symlink, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Store } from '../../../../src/store/contract.ts'
import { createLevelStore } from '../../../../src/store/level/index.ts'
import { openStore } from '../../../../src/store/open-store.ts'
import { temporaryDirectory } from '../../../helpers/temporary-directory.ts'
import { failNextBatch } from '../write-batches.ts'

const thingId = 'aaaaaaaaaaaaaaaa'

afterEach(() => {
  vi.restoreAllMocks()
})

function write(datetime: number) {
  const record = { key: 'depth', datetime, value: '1', place: 0, explicit: true }
  return { thingId, records: [record], store: true, broadcast: true, receivedAt: 1, answer: {} }
}

interface Opened {
  readonly store: Store
  /** Of the store; its directory is `<directory>/store`. */
  readonly directory: string
  readonly location: string
  readonly lost: Promise<Error>
}

async function open(location?: string): Promise<Opened> {
  const directory = await temporaryDirectory()
  const place = location ?? join(directory, 'store')
  let onLost: (error: Error) => void = () => {}
  const lost = new Promise<Error>(resolve => {
    onLost = resolve
  })
  const store = await openStore(createLevelStore({ location: place, onLost }))
  onTestFinished(() => store.close())
  await store.records.append(write(1))
  return { store, directory, location: place, lost }
}

async function expectLost({ store, lost }: Opened): Promise<void> {
  expect((await lost).message).toMatch(/^the store in \S+ is lost: /)
  expect(store.isReady()).toBe(false)
  const failed = { reason: 'store_unavailable' }
  await expect(store.records.append(write(3))).rejects.toMatchObject(failed)
  await expect(store.documents.put({ a: {} }, 'keep')).rejects.toMatchObject(failed)
  await expect(store.records.read(thingId, 'depth', { order: 'asc', limit: 1 })).rejects.toMatchObject(failed)
}

const ways: Readonly<Record<string, (opened: Opened) => Promise<unknown>>> = {
  'is removed': ({ location }) => rm(location, { recursive: true }),
  'is moved away': ({ location }) => rename(location, `${location}.old`),
  'is below one that is moved away': async ({ directory }) => {
    await rename(directory, `${directory}.old`)
    onTestFinished(() => rm(`${directory}.old`, { recursive: true }))
  },
  'is replaced by an empty one': async ({ location }) => {
    await rename(location, `${location}.old`)
    await mkdir(location)
  },
  'is replaced by a copy': async ({ location }) => {
    await cp(location, `${location}.copy`, { recursive: true })
    await rename(location, `${location}.old`)
    await rename(`${location}.copy`, location)
  },
  'loses its lock': ({ location }) => unlink(join(location, 'LOCK')),
  'loses its CURRENT': ({ location }) => unlink(join(location, 'CURRENT')),
  'loses its log': ({ location }) => rm(join(location, '000003.log')),
}

describe('a store whose directory', () => {
  it.each(Object.entries(ways))('%s is lost', async (_, takeAway) => {
    const opened = await open()
    await takeAway(opened)
    await expectLost(opened)
  })

  it.each(Object.entries(ways))('%s is lost at once if a write fails then', async (_, takeAway) => {
    const opened = await open()
    await takeAway(opened)
    failNextBatch()
    await expect(opened.store.records.append(write(2))).rejects.toMatchObject({ reason: 'store_timeout' })
    await expectLost(opened)
  })

  it('is behind a link that leads elsewhere is lost', async () => {
    const directory = await temporaryDirectory()
    const link = join(directory, 'link')
    await mkdir(join(directory, 'one'))
    await mkdir(join(directory, 'other'))
    await symlink(join(directory, 'one'), link)
    const opened = await open(join(link, 'store'))
    await unlink(link)
    await symlink(join(directory, 'other'), link)
    await expectLost(opened)
  })

  it('goes away while the process stands still is lost before anything is acknowledged', async () => {
    const opened = await open()
    await rename(opened.location, `${opened.location}.old`)
    const now = performance.now()
    // No timer chunks in between, as behind a pause: the completion of the write comes first.
    vi.spyOn(performance, 'now').mockImplementation(() => now + 10_000)
    const appended = opened.store.records.append(write(2)).then(
      () => 'acknowledged',
      () => 'refused',
    )
    expect(await appended).toBe('refused')
    vi.restoreAllMocks()
    await expectLost(opened)
  })

  it('stays in its place is not lost when a write fails, nor when its log is a new one', async () => {
    const { store, lost } = await open()
    let isLost = false
    void lost.then(() => {
      isLost = true
    })
    failNextBatch()
    await expect(store.records.append(write(2))).rejects.toMatchObject({ reason: 'store_unavailable' })
    const value = JSON.stringify('x'.repeat(60_000))
    for (let datetime = 10; datetime < 700; datetime++) {
      const [record] = write(datetime).records
      await store.records.append({ ...write(datetime), records: record ? [{ ...record, value }] : [] })
    }
    const now = performance.now()
    vi.spyOn(performance, 'now').mockImplementation(() => now + 10_000)
    await store.records.append(write(2))
    await nextTurn()
    expect(isLost).toBe(false)
    expect(store.isReady()).toBe(true)
  })
})
