import type { MagicHistory, MagicRecord } from '../core/ports.ts'
import type { Geo } from '../core/record/geo.ts'
import type { Problem } from '../core/record/problem.ts'

/** The state of a magic resource, as in REST, the retained view and live messages. */
export interface MagicState {
  /** Any valid JSON value (contract §2). It is shared, so never change it in place. */
  readonly value: unknown
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  readonly datetime: number
}

/** A record that has passed `check` and is durable. */
export interface MagicChange {
  /** The resource's own key, or one below it. */
  readonly key: string
  /** As `check` has returned it. */
  readonly value: unknown
  readonly geo?: Geo
  /** Measurement time, milliseconds. */
  readonly datetime: number
  /** Receipt time, milliseconds. */
  readonly receivedAt: number
}

/** One magic resource (contract §5). docs/use/magic.md has an example. */
export interface MagicResource {
  /** Key of its records and of its state: `$`, then 1..64 letters, digits, `_` or `-`. */
  readonly key: string
  /**
   * Checks a record under one of its keys, before the write is acknowledged. Must be pure.
   *
   * @returns the record for the history, or a problem, which refuses the write
   */
  check(record: MagicRecord): MagicHistory | Problem
  /**
   * Computes the new state. Called after the write was acknowledged, once per record, in the order of the thing's writes. Must be
   * pure: after a crash it may be called again with the same state.
   *
   * @returns the new state; undefined: no change; or a problem, which the thing's list of refused writes shows
   */
  apply(state: MagicState | undefined, change: MagicChange): MagicState | undefined | Problem
  /** The state is that of the newest record. If that record is removed, the newest remaining one becomes the state. */
  readonly isLatestRecord?: true
  /** There are also keys `<key>.<path>` for parts of the state. Setting one to null removes the part. */
  readonly parts?: MagicParts
}

export interface MagicParts {
  /** The part that `key` names, as parsed JSON; undefined: the state has none. */
  read(state: MagicState, key: string): unknown
}
