import type { ThingwireError } from '../../errors.ts'
import type { Observer } from '../observer.ts'
import type { WriteRate } from '../ports.ts'
import type { ReceiptClock } from '../time/clock.ts'
import type { Refusal, Refusals } from './refusals.ts'

const noBody = new Uint8Array()

/** Creates `Ingest.noteRefused` and `Ingest.noteRejected`, which record writes and connections that a door itself has refused. */
export function createDoorRefusals(
  refusals: Refusals,
  rate: Pick<WriteRate, 'enter' | 'mayNote'>,
  clock: Pick<ReceiptClock, 'now'>,
  observer: Observer | undefined,
) {
  const rejections = new RejectionCauses((thingId, error, count, door) => {
    const refusal = { thingId, door, error, ...(count > 1 && { count }) } as const
    void refusals.note(refusal, clock.now()).catch(() => {})
  })
  return {
    noteRejected: (thingId: string, error: ThingwireError, door?: Door) =>
      rejections.note(thingId, error, door),

    async noteRefused(refusal: Refusal): Promise<void> {
      // A write that exceeds the rate was already counted when `Ingest.submit` refused it.
      if (!isRateExceeded(refusal.error)) observer?.refusedWrite(refusal.door, refusal.error.reason)
      const receivedAt = clock.now()
      try {
        await pay(refusal)
      } catch {
        return
      }
      await refusals.note(refusal, receivedAt)
    },
  }

  /** @throws ThingwireError if the refusal must not be listed */
  function pay({ thingId, door, error, body = noBody }: Refusal): Promise<void> | undefined {
    if (door === 'magic') return undefined
    if (!isRateExceeded(error)) return rate.enter({ thingId, door, body })
    if (!rate.mayNote(thingId)) throw error
    return undefined
  }
}

export function isRateExceeded({ reason }: ThingwireError): boolean {
  return reason === 'write_rate_exceeded' || reason === 'record_rate_exceeded'
}

/** A new cause is listed immediately. Its repeats within this many milliseconds become one further entry with a count. */
const period = 60_000
/** Maximum number of causes of one thing that are listed within `period`. */
const mostCauses = 10

type Door = 'http' | 'mqtt'

/** @param count number of rejections since the cause was last listed; 1 for a new cause */
type List = (thingId: string, error: ThingwireError, count: number, door: Door) => void

/** Lists why connections of things were rejected or closed: each cause at most once a minute, with a count (contract §6.3). */
export class RejectionCauses {
  readonly #list: List
  /** Number of repeats since the last entry, by thing id and text of the cause. */
  readonly #causes = new Map<string, Map<string, number>>()

  constructor(list: List) {
    this.#list = list
  }

  note(thingId: string, error: ThingwireError, door: Door = 'mqtt'): void {
    const causes = this.#causes.get(thingId) ?? new Map<string, number>()
    const cause = `${error.reason} ${error.message}`
    const count = causes.get(cause)
    if (count !== undefined) {
      causes.set(cause, count + 1)
      return
    }
    if (causes.size >= mostCauses) return
    this.#causes.set(thingId, causes.set(cause, 0))
    this.#list(thingId, error, 1, door)
    this.#await(thingId, cause, error, door)
  }

  #await(thingId: string, cause: string, error: ThingwireError, door: Door): void {
    setTimeout(() => this.#listAgain(thingId, cause, error, door), period).unref()
  }

  #listAgain(thingId: string, cause: string, error: ThingwireError, door: Door): void {
    const causes = this.#causes.get(thingId)
    const count = causes?.get(cause) ?? 0
    if (count > 0) {
      causes?.set(cause, 0)
      this.#list(thingId, error, count, door)
      this.#await(thingId, cause, error, door)
      return
    }
    causes?.delete(cause)
    if (causes?.size === 0) this.#causes.delete(thingId)
  }
}
