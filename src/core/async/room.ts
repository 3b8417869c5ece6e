import { ThingwireError } from '../../errors.ts'
import type { BackPressure } from '../ports.ts'

/** What writes wait for while too many live messages wait to be sent (contract §9), and not for ever. */
export class Room {
  readonly #live: BackPressure
  readonly #timeout: number
  #room: Promise<void> | undefined
  #roomInTime: Promise<void> | undefined

  /** @param timeout milliseconds */
  constructor(live: BackPressure, timeout: number) {
    this.#live = live
    this.#timeout = timeout
  }

  /**
   * Resolves when writes may go on; undefined: they may now. Rejects with too_many_waiting when they have had to wait for
   * too long: all at one time, so that of one connection none goes on behind one that did not.
   */
  wait(): Promise<void> | undefined {
    const room = this.#live.room()
    if (room && room !== this.#room) {
      this.#room = room
      this.#roomInTime = inTime(room, this.#timeout)
      // It may be late for nobody.
      this.#roomInTime.catch(() => {})
    }
    return room && this.#roomInTime
  }
}

function inTime(room: Promise<void>, timeout: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new ThingwireError('too_many_waiting')), timeout)
    room.finally(() => clearTimeout(late)).then(resolve, reject)
  })
}
