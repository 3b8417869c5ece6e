import type { RefusedWrite } from '../../core/ports.ts'
import { describeRefusedWrite } from '../../core/refusals/refused-write.ts'
import type { Live } from '../../live/index.ts'

/** Most messages of one thing in `window` (contract §7). */
const maximumMessages = 10
/** Milliseconds. */
const window = 1_000

/** Tells refused writes on `things/<id>/errors`, so that nobody is flooded by a device that sends only nonsense. */
export class RefusedMessages {
  readonly #live: Live
  /** By thing id, when its latest messages were sent, oldest first; in the order of the latest. */
  readonly #sent = new Map<string, number[]>()
  /** Refused writes of which no message was sent. */
  notTold = 0

  constructor(live: Live) {
    this.#live = live
  }

  tell(thingId: string, refused: RefusedWrite): void {
    const now = performance.now()
    this.#forgetBefore(now - window)
    const times = this.#sent.get(thingId) ?? []
    while (times[0] !== undefined && times[0] <= now - window) times.shift()
    if (times.length >= maximumMessages) {
      this.notTold++
      return
    }
    times.push(now)
    this.#sent.delete(thingId)
    this.#sent.set(thingId, times)
    this.#live.tellRefused(thingId, Buffer.from(JSON.stringify(describeRefusedWrite(refused))))
  }

  #forgetBefore(time: number): void {
    for (const [thingId, times] of this.#sent) {
      if ((times.at(-1) ?? 0) > time) return
      this.#sent.delete(thingId)
    }
  }
}
