import type { MagicHistory, MagicRecord } from '../core/ports.ts'
import type { Geo } from '../core/record/geo.ts'
import type { Problem } from '../core/record/problem.ts'

/** The state of a magic resource: what REST and the retained view give, and the live message when it changes. */
export interface MagicState {
  /** Any JSON that a value may be (contract §2). Shared: to be replaced, never changed in place. */
  readonly value: unknown
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  readonly datetime: number
}

/** A record that has passed `check` and is durable. */
export interface MagicChange {
  /** The resource's own key, or one below it. */
  readonly key: string
  /** As `check` gave it for the history. */
  readonly value: unknown
  readonly geo?: Geo
  /** When it was measured, milliseconds. */
  readonly datetime: number
  /** When it was received, milliseconds. */
  readonly receivedAt: number
}

/** One magic resource (contract §5). A file of its own declares it; the registry lists it. docs/use/magic.md has an example. */
export interface MagicResource {
  /** Key of its records and of its state: `$`, then 1..64 letters, digits, `_` or `-`. */
  readonly key: string
  /**
   * Checks a record under one of its keys, before the write is acknowledged. Pure.
   *
   * @returns what to keep of it as history, or what is wrong: then the write is refused
   */
  check(record: MagicRecord): MagicHistory | Problem
  /**
   * What becomes of the state: called after the write was acknowledged, once per record, in the order of the thing's
   * writes. Pure: after a crash it can be called again, with the same state.
   *
   * @returns the new state; undefined if it stays as it is; or why it must stay, to be noted among the thing's refused
   * writes
   */
  apply(state: MagicState | undefined, change: MagicChange): MagicState | undefined | Problem
  /** The state is that of the newest record: where a removal takes that one, the newest that is left becomes the state. */
  readonly isLatestRecord?: true
  /** There are keys `<key>.<path>` too, each a part of the state. Setting one to null removes the part. */
  readonly parts?: MagicParts
}

export interface MagicParts {
  /** JSON of the part that `key` names; undefined if the state has none. */
  read(state: MagicState, key: string): unknown
}
