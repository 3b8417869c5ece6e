import type { ThingwireError } from '../../errors.ts'
import type { Observer } from '../observer.ts'
import type { WriteRate } from '../ports.ts'
import type { ReceiptClock } from '../time/clock.ts'
import type { Refusal, Refusals } from './refusals.ts'

const noBody = new Uint8Array()

/**
 * `Ingest.noteRefused` and `Ingest.noteRejected`: what doors refuse themselves, writes before they are parsed and connections. It
 * costs the thing as much as a write.
 */
export function createDoorRefusals(
  refusals: Refusals,
  rate: Pick<WriteRate, 'enter' | 'mayNote'>,
  clock: Pick<ReceiptClock, 'now'>,
  observer: Observer | undefined,
) {
  const rejections = new RejectionCauses((thingId, error, count) => {
    const refusal = { thingId, door: 'mqtt', error, ...(count > 1 && { count }) } as const
    void refusals.note(refusal, clock.now()).catch(() => {})
  })
  return {
    noteRejected: (thingId: string, error: ThingwireError) => rejections.note(thingId, error),

    async noteRefused(refusal: Refusal): Promise<void> {
      // For its rate it was refused as a write before.
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

  /** @throws ThingwireError if it is not to be noted */
  function pay({ thingId, door, error, body = noBody }: Refusal): Promise<void> | undefined {
    if (door === 'magic') return undefined
    if (!isRateExceeded(error)) return rate.enter({ thingId, door, body })
    if (!rate.mayNote(thingId)) throw error
    return undefined
  }
}

/** Whether the thing has written more than it may. */
export function isRateExceeded({ reason }: ThingwireError): boolean {
  return reason === 'write_rate_exceeded' || reason === 'record_rate_exceeded'
}

/** Each cause is listed at once, and what follows in this time as one more with its count; milliseconds. */
const period = 60_000
/** Causes of one thing that are listed in that time; further ones are not. */
const mostCauses = 10

/** @param count since the cause was last listed; 1: it is new */
type List = (thingId: string, error: ThingwireError, count: number) => void

/** Why connections of things were rejected or closed: each cause once a minute, with a count (contract §6.3). */
export class RejectionCauses {
  readonly #list: List
  /** By thing id and text, how often it came since it was listed. */
  readonly #causes = new Map<string, Map<string, number>>()

  constructor(list: List) {
    this.#list = list
  }

  note(thingId: string, error: ThingwireError): void {
    const causes = this.#causes.get(thingId) ?? new Map<string, number>()
    const cause = `${error.reason} ${error.message}`
    const count = causes.get(cause)
    if (count !== undefined) {
      causes.set(cause, count + 1)
      return
    }
    if (causes.size >= mostCauses) return
    this.#causes.set(thingId, causes.set(cause, 0))
    this.#list(thingId, error, 1)
    this.#await(thingId, cause, error)
  }

  #await(thingId: string, cause: string, error: ThingwireError): void {
    setTimeout(() => this.#listAgain(thingId, cause, error), period).unref()
  }

  #listAgain(thingId: string, cause: string, error: ThingwireError): void {
    const causes = this.#causes.get(thingId)
    const count = causes?.get(cause) ?? 0
    if (count > 0) {
      causes?.set(cause, 0)
      this.#list(thingId, error, count)
      this.#await(thingId, cause, error)
      return
    }
    causes?.delete(cause)
    if (causes?.size === 0) this.#causes.delete(thingId)
  }
}
