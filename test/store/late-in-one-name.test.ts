import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { received, valuesOf, write } from '../../src/conformance/writes.ts'
import type { Store, StoreDriver } from '../../src/store/contract.ts'
import { createLevelStore } from '../../src/store/level/index.ts'
import { openStore } from '../../src/store/open-store.ts'
import { createRedisStore } from '../../src/store/redis/index.ts'
import { redisOfTest } from '../helpers/redis-of-test.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { writeBatches } from './level/write-batches.ts'

/** Milliseconds. */
const storeTimeout = 3_000

interface Stalling {
  readonly driver: StoreDriver
  /** From now on nothing is committed. */
  readonly stall: () => Stall
}

interface Stall {
  /** Resolves when the first commit is under way: what comes from now on is behind it. */
  readonly begun: Promise<unknown>
  goOn(): void
}

async function level(): Promise<Stalling> {
  const driver = createLevelStore({ location: await temporaryDirectory(onTestFinished) })
  onTestFinished(() => void vi.restoreAllMocks())
  let stalled = Promise.resolve()
  let begin = () => {}
  const stall = () => {
    let goOn = () => {}
    stalled = new Promise(resolve => {
      goOn = resolve
    })
    const begun = new Promise<void>(resolve => {
      begin = resolve
    })
    return { begun, goOn }
  }
  writeBatches(async write => {
    begin()
    await stalled
    await write()
  })
  return { driver, stall }
}

async function redis(): Promise<Stalling> {
  const server = await redisOfTest({ config: { appendfsync: 'no' } })
  const stall = () => {
    server.process.kill('SIGSTOP')
    return { begun: delay(storeTimeout / 10), goOn: () => void server.process.kill('SIGCONT') }
  }
  return { driver: createRedisStore({ url: server.url }), stall }
}

/** What of two writes is stored, of which the first is given up, and the second is not late. */
async function storedOf(store: Store, stall: Stalling['stall'], locks: readonly (string | undefined)[]) {
  const taken = new Map<string | undefined, Awaited<ReturnType<Store['locks']['take']>>>()
  for (const name of new Set(locks)) if (name) taken.set(name, await store.locks.take(name))
  const append = (value: string, name?: string) => {
    const lock = taken.get(name)
    return store.records.append(write([received(value)], lock ? { lock } : {}))
  }
  const { begun, goOn } = stall()
  // The one that is under way; the others wait behind it.
  const underWay = append('under way').catch(() => {})
  await begun
  const first = append('first', locks[0]).catch((error: Error) => error)
  await delay(storeTimeout / 2)
  const second = append('second', locks[1]).catch((error: Error) => error)
  expect(await first).toMatchObject({ reason: 'store_timeout' })
  goOn()
  await Promise.all([underWay, second])
  return (await valuesOf(store.records)).filter(value => value !== 'under way')
}

test.for([
  ['embedded', level],
  ['Redis', redis],
] as const)(
  '%s: what waits behind a write that was given up, in the same name, is given up with it',
  async ([, open]) => {
    const { driver, stall } = await open()
    const store = await openStore(driver, { storeTimeout })
    onTestFinished(() => store.close())
    expect(await storedOf(store, stall, ['client/a', 'client/a'])).toEqual([])
    expect(await storedOf(store, stall, ['client/b', 'client/c'])).toEqual(['second'])
  },
)
