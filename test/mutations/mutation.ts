import { type PromisedDriver, type PromisedRecords, replacing } from './promised-driver.ts'

/** One promise of `store/contract.ts`, broken: the conformance suite has to notice. */
export interface Mutation {
  readonly name: string
  /** The promise, and how a real store might come to break it. */
  readonly why: string
  /** Wraps a driver that keeps its promises in one that breaks this one. */
  mutate(driver: PromisedDriver): PromisedDriver
}

/** The driver with some methods of its records replaced. */
export function withRecords(driver: PromisedDriver, replaced: Partial<PromisedRecords>): PromisedDriver {
  return { ...driver, records: replacing(driver.records, replaced) as PromisedRecords }
}

/** Much more than any test of the suite stores. */
export const everything = 1_000_000
