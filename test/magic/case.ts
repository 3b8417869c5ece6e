import type { WriteOptions } from '../../src/core/parse.ts'
import type { Reason } from '../../src/errors.ts'

/** A write through a door. */
export interface WriteStep {
  readonly values: readonly object[]
  readonly options?: WriteOptions
  /** Why it is refused, if it is. */
  readonly refused?: Reason
}

/** A DELETE by the operator. */
export interface RemoveStep {
  readonly remove: string
  /** Query, such as `endDate=20260101000000`. */
  readonly range?: string
}

/** A row of the table: writes to a thing of its own, one after another, and what comes of them. */
export interface MagicCase {
  readonly name: string
  readonly steps: readonly (WriteStep | RemoveStep)[]
  /** Values by key as `GET …/resources/<key>` gives them in the end; `$geo` and `$settings` that are not here have none. */
  readonly states: Readonly<Record<string, unknown>>
  /** Measurement time of the position in the end, where it was given. */
  readonly positionTime?: string
  /** Values of what was written under each key, oldest first; `$geo` and `$settings` that are not here have none. */
  readonly history: Readonly<Record<string, readonly unknown[]>>
  /** The states that are announced, in order. */
  readonly told: readonly Told[]
  /** Why records of acknowledged writes were not applied, in order. */
  readonly notApplied?: readonly Reason[]
}

/** A state that is announced; undefined: there is none any more. */
export type Told = readonly [key: string, value: unknown]

/** A write of these records. */
export function write(...values: object[]): WriteStep {
  return { values }
}

/** A write with flags. */
export function writeWith(options: WriteOptions, ...values: object[]): WriteStep {
  return { values, options }
}

/** A write that is refused. */
export function refusedWrite(refused: Reason, ...values: object[]): WriteStep {
  return { values, refused }
}

export function point(long: number, lat = 0): object {
  return { type: 'Point', coordinates: [long, lat] }
}

/** A record of `$geo` at a second of one minute; without one, at receipt. */
export function at(long: number, second?: number): object {
  return { key: '$geo', value: [long, 0], ...(second !== undefined && { datetime: secondTime(second) }) }
}

export function secondTime(second: number): string {
  return `2026-01-02T03:04:${String(second).padStart(2, '0')}.000Z`
}

export function patch(value: object, datetime?: string): object {
  return { key: '$settings', value, ...(datetime !== undefined && { datetime }) }
}

export function set(path: string, value: unknown): object {
  return { key: `$settings.${path}`, value }
}

export function toldSettings(...documents: unknown[]): Told[] {
  return documents.map(document => ['$settings', document] as const)
}

export function toldPositions(...longs: number[]): Told[] {
  return longs.map(long => ['$geo', point(long)] as const)
}

/** An array nested so deep: `nested(2)` is `[[]]`. */
export function nested(depth: number): unknown {
  return depth === 1 ? [] : [nested(depth - 1)]
}
