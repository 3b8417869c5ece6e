import { Ledger, type Outcome } from '../fault/ledger.ts'
import type { PlannedWrite } from '../fault/planned-write.ts'

/** Times on the clock of `performance.now()`, milliseconds. */
export interface Ack {
  readonly name: string
  /** The last time. */
  readonly sentAt: number
  readonly at: number
}

/** A ledger that keeps when what was acknowledged. */
export class TimedLedger extends Ledger {
  /** In the order in which they were received: 201, PUBACK and PUBREC. */
  readonly acked: Ack[] = []
  readonly #sent = new Map<string, number>()

  override add(write: PlannedWrite): void {
    super.add(write)
    this.#sent.set(write.name, performance.now())
  }

  override resend(write: PlannedWrite): void {
    super.resend(write)
    this.#sent.set(write.name, performance.now())
  }

  override settle(write: PlannedWrite, outcome: Outcome): void {
    super.settle(write, outcome)
    const sentAt = this.#sent.get(write.name)
    // PUBCOMP comes after PUBREC.
    if (sentAt === undefined || outcome !== 'acked') return
    this.#sent.delete(write.name)
    this.acked.push({ name: write.name, sentAt, at: performance.now() })
  }
}

/** Which client has sent a write of this name, over whatever way. */
export function clientOf(name: string): string {
  const [run = '', way = '', place = ''] = name.split('-')
  return `${run} ${way === 'h' ? 'HTTP' : 'MQTT'} ${place}`
}
