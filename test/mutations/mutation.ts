import type { DriverRecords, StoreDriver } from '../../src/store/contract.ts'

/** One promise of `store/contract.ts`, broken: the conformance suite has to notice. */
export interface Mutation {
  readonly name: string
  /** The promise, and how a real store might come to break it. */
  readonly why: string
  /** Wraps a driver that keeps its promises in one that breaks this one. */
  mutate(driver: StoreDriver): StoreDriver
}

/** The driver with some methods of its records replaced. */
export function withRecords(driver: StoreDriver, replaced: Partial<DriverRecords>): StoreDriver {
  const records: DriverRecords = new Proxy(driver.records, {
    get: (target, name) => {
      const own = Reflect.get(replaced, name)
      return own ?? (Reflect.get(target, name) as (...call: unknown[]) => unknown).bind(target)
    },
  })
  return { ...driver, records }
}

/** Much more than any test of the suite stores. */
export const everything = 1_000_000
