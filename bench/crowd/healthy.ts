import { setTimeout as delay } from 'node:timers/promises'
import type { Thing } from '../../test/helpers/http-client.ts'
import type { ServerProcess } from '../../test/helpers/server-process.ts'
import { bodyOf, type Door, Doors } from '../load/doors.ts'

/** Writes a second of each client, one at a time. */
const rate = 25
export const doorNames: readonly Door[] = ['MQTT', 'WebSocket', 'HTTP']

/** Milliseconds from sending a write to its ack, sorted. */
export type AckTimes = Readonly<Record<Door, readonly number[]>>

/** A client on each door that writes all the while. */
export class Healthy {
  readonly #doors: Doors
  readonly #times: Record<Door, number[]> = { MQTT: [], WebSocket: [], HTTP: [] }
  readonly #running: readonly Promise<void>[]
  #isStopped = false

  private constructor(doors: Doors) {
    this.#doors = doors
    this.#running = doorNames.map(door => this.#run(door))
    // Thrown where it is waited for.
    for (const running of this.#running) running.catch(() => {})
  }

  static async start(server: ServerProcess, thing: Thing): Promise<Healthy> {
    return new Healthy(await Doors.open(server, thing, 1))
  }

  /** What was seen since the last call. @throws Error if a write was not acked */
  async take(): Promise<AckTimes> {
    await Promise.race([Promise.all(this.#running), delay(0)])
    const sorted = (door: Door) => this.#times[door].splice(0).sort((a, b) => a - b)
    return { MQTT: sorted('MQTT'), WebSocket: sorted('WebSocket'), HTTP: sorted('HTTP') }
  }

  /** @throws Error if a write was not acked */
  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.all(this.#running)
    await this.#doors.close()
  }

  async #run(door: Door): Promise<void> {
    const begin = performance.now()
    for (let n = 0; !this.#isStopped; n++) {
      await delay(Math.max(0, begin + (n * 1_000) / rate - performance.now()))
      const sent = performance.now()
      await this.#doors.write(door, bodyOf('healthy', n))
      this.#times[door].push(performance.now() - sent)
    }
  }
}
