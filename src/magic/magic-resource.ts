import type { MagicHistory, MagicRecord } from '../core/ports.ts'
import type { Geo } from '../core/record/geo.ts'
import type { Problem } from '../core/record/problem.ts'

/** The state of a magic resource, as REST, retained messages and live messages show it. */
export interface MagicState {
  /** Any valid JSON value (contract §2). The value is shared, so never change it in place. */
  readonly value: unknown
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  readonly datetime: number
}

/** A record that has passed `check` and is durable. */
export interface MagicChange {
  /** The resource's own key, or the key of a part of its state. */
  readonly key: string
  /** The value that `check` has returned. */
  readonly value: unknown
  readonly geo?: Geo
  /** Measurement time, milliseconds since 1970. */
  readonly datetime: number
  /** Receipt time, milliseconds since 1970. */
  readonly receivedAt: number
}

/** One magic resource (contract §5). For an example, see docs/use/magic.md. */
export interface MagicResource {
  /** Key of the resource's records and of its state: `$`, then 1 to 64 letters, digits, `_` or `-`. */
  readonly key: string
  /**
   * Checks a record under one of the resource's keys before the write is acknowledged. Must be pure.
   *
   * @returns the record for the history; or the problem for which the write is refused
   */
  check(record: MagicRecord): MagicHistory | Problem
  /**
   * Computes the new state. Called after the write is acknowledged, once per record, in the order of the thing's writes. Must be
   * pure: after a crash it may be called again with the same state.
   *
   * @returns the new state; undefined if it does not change; or a problem, which is shown in the thing's list of refused writes
   */
  apply(state: MagicState | undefined, change: MagicChange): MagicState | undefined | Problem
  /** Set if the newest record is the state. If that record is removed, the newest remaining record becomes the state. */
  readonly isLatestRecord?: true
  /** Set if there are also keys `<key>.<path>` for parts of the state. A record with the value null removes the part. */
  readonly parts?: MagicParts
}

export interface MagicParts {
  /** The part that `key` names, as parsed JSON; undefined if the state has no such part. */
  read(state: MagicState, key: string): unknown
}
