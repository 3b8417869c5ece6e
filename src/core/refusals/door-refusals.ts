import type { ThingwireError } from '../../errors.ts'
import type { ReceiptClock } from '../clock.ts'
import type { Observer } from '../observer.ts'
import type { WriteRate } from '../ports.ts'
import type { Refusal, Refusals } from './refusals.ts'
import { TurnedAway } from './turned-away.ts'

const noBody = new Uint8Array()

/** What doors refuse themselves: writes before they are parsed, and connections. It costs the thing as much as a write. */
export class DoorRefusals {
  readonly #refusals: Refusals
  readonly #rate: Pick<WriteRate, 'enter' | 'mayNote'>
  readonly #clock: Pick<ReceiptClock, 'now'>
  readonly #observer: Observer | undefined
  readonly #turnedAway = new TurnedAway((thingId, error, count) => {
    const refusal = { thingId, door: 'mqtt', error, ...(count > 1 && { count }) } as const
    void this.#refusals.note(refusal, this.#clock.now()).catch(() => {})
  })

  constructor(
    refusals: Refusals,
    rate: Pick<WriteRate, 'enter' | 'mayNote'>,
    clock: Pick<ReceiptClock, 'now'>,
    observer: Observer | undefined,
  ) {
    this.#refusals = refusals
    this.#rate = rate
    this.#clock = clock
    this.#observer = observer
  }

  /** As `Ingest.noteRefused`. */
  async note(refusal: Refusal): Promise<void> {
    // For its rate it was refused as a write before.
    if (!isRateExceeded(refusal.error)) this.#observer?.refusedWrite(refusal.door, refusal.error.reason)
    const receivedAt = this.#clock.now()
    try {
      await this.#pay(refusal)
    } catch {
      return
    }
    await this.#refusals.note(refusal, receivedAt)
  }

  /** As `Ingest.noteTurnedAway`. */
  noteTurnedAway(thingId: string, error: ThingwireError): void {
    this.#turnedAway.tell(thingId, error)
  }

  /** @throws ThingwireError if it is not to be noted */
  #pay({ thingId, door, error, body = noBody }: Refusal): Promise<void> | undefined {
    if (door === 'magic') return undefined
    if (!isRateExceeded(error)) return this.#rate.enter({ thingId, door, body })
    if (!this.#rate.mayNote(thingId)) throw error
    return undefined
  }
}

/** Whether the thing has written more than it may. */
export function isRateExceeded({ reason }: ThingwireError): boolean {
  return reason === 'write_rate_exceeded' || reason === 'record_rate_exceeded'
}
