import { onTestFinished } from 'vitest'
import type { StoreDriver } from '../../src/store/contract.ts'
import { alterAppends, alterPuts } from '../helpers/altered-driver.ts'
import { createGate as createPassage } from '../helpers/gate.ts'
import { DoorService } from './door-service.ts'

export type ObservedStore = ReturnType<typeof observeStore>

export interface Slowness {
  /** Awaited before an append begins, and before what is called behind it; called in their order, and to be settled in it. */
  readonly before?: () => Promise<void>
  /** Awaited when an append is durable, in whatever order: only order of commits is a store's promise. */
  readonly after?: () => Promise<void>
  /** Ends all waiting. */
  open?(): void
}

/** Makes a store slower than it is, and counts what it is given. */
export function observeStore(driver: StoreDriver, { before, after }: Slowness) {
  let count = 0
  let pending = 0
  let mostPending = 0
  const waiting = new Map<number, () => void>()
  let begun: Promise<void> | undefined
  alterAppends(driver, append => async (...call) => {
    mostPending = Math.max(mostPending, ++pending)
    waiting.get(++count)?.()
    try {
      begun = before?.()
      await begun
      const receipt = await append(...call)
      await after?.()
      return receipt
    } finally {
      pending--
    }
  })
  alterPuts(driver, put => async (...call) => {
    await begun
    return await put(...call)
  })
  const transact = driver.documents.transact.bind(driver.documents)
  driver.documents.transact = async (names, change) => {
    await begun
    return await transact(names, change)
  }
  return {
    ...driver,
    /** Most appends that were called and not yet answered, at any time. */
    get mostPending() {
      return mostPending
    },
    /** Resolves when so many appends have been called. */
    called: (wanted: number) =>
      count >= wanted ? Promise.resolve() : new Promise<void>(resolve => waiting.set(wanted, resolve)),
  }
}

/** A stop before the store: whoever comes waits, in order, until it is opened. */
export function createGate(): Slowness & { open(): void } {
  const { pass, open } = createPassage()
  return { before: pass, open }
}

export type SlowService = DoorService & { readonly store: ObservedStore }

/** The doors of the ready server on the embedded store, made slow; closed at the end of the test. */
export async function startSlowService(slowness: Slowness): Promise<SlowService> {
  const observed: ObservedStore[] = []
  const alter = (store: StoreDriver) => void observed.push(observeStore(store, slowness))
  const service = await DoorService.start({ alter })
  onTestFinished(() => slowness.open?.())
  return Object.assign(service, { store: observed[0] as ObservedStore })
}
