/** Receipt times that never go back (contract §4, clock). */
export interface Clock {
  /** A receipt time, milliseconds: never before one that was given out or stored. */
  receive(): number
  /** Whether the wall clock is behind the newest receipt time. */
  isBehind(): boolean
}

/**
 * @param newestReceipt newest receipt time that the store holds, milliseconds
 * @param now the wall clock
 */
export function createClock(newestReceipt: number, now: () => number = Date.now): Clock {
  let newest = newestReceipt
  return {
    receive: () => (newest = Math.max(newest, now())),
    isBehind: () => now() < newest,
  }
}
