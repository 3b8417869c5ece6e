import { Ledger, type Outcome } from '../fault/ledger.ts'
import type { PlannedWrite } from '../fault/planned-write.ts'

export interface Ack {
  readonly name: string
  /** On the clock of `performance.now()`, milliseconds. */
  readonly at: number
}

/** A ledger that keeps when what was acknowledged. */
export class TimedLedger extends Ledger {
  /** In the order in which they were received: 201, PUBACK and PUBREC. */
  readonly acked: Ack[] = []

  override settle(write: PlannedWrite, outcome: Outcome): void {
    super.settle(write, outcome)
    if (outcome === 'acked') this.acked.push({ name: write.name, at: performance.now() })
  }
}

/** Which client has sent a write of this name, over whatever way. */
export function clientOf(name: string): string {
  const [run = '', way = '', place = ''] = name.split('-')
  return `${run} ${way === 'h' ? 'HTTP' : 'MQTT'} ${place}`
}
