import type { Latency } from './latency.ts'

export interface Phases {
  /** From the first write on, before anything is measured, seconds. */
  readonly warmUp: number
  /** Seconds. */
  readonly measured: number
  /** Ends the measured stretch when so many writes were acked in it; `measured` is its deadline then. */
  readonly acks?: number
}

/** Called as the measured stretch begins and ends, for the figures of whatever is driven. */
export interface Marks {
  readonly onBegin: () => void | Promise<void>
  readonly onEnd: () => void | Promise<void>
}

export interface LoadResult {
  /** Writes acked in the measured stretch; at QoS 0 those that the server has read. */
  readonly done: number
  /** How long the measured stretch was. */
  readonly seconds: number
  /** Of the generator in the measured stretch, microseconds. */
  readonly processorTime: number
  /** Writes acked from the first to the last, those of the warm-up and of the end included. */
  readonly total: number
  /** Writes that were sent, and not acked by the deadline of the end. */
  readonly unacked: number
  /** From when a write was due to its ack, of those due in the measured stretch. Absent in a closed loop. */
  readonly latency?: Latency
  /** From when a write was due, and could have been sent, until it was: what the generator itself is late. */
  readonly lateness?: Latency
}
