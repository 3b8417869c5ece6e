import type { ThingwireError } from '../../errors.ts'
import type { Observer } from '../observer.ts'
import type { WriteRate } from '../ports.ts'
import type { ReceiptClock } from '../time/clock.ts'
import type { Refusal, Refusals } from './refusals.ts'
import { RejectionCauses } from './rejection-causes.ts'

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
    noteRejected: (thingId: string, error: ThingwireError) => rejections.tell(thingId, error),

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
