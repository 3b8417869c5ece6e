import type { WriteOptions } from '../../src/core/parse.ts'
import type { Geo } from '../../src/core/record/geo.ts'
import type { Reason } from '../../src/errors.ts'

/** A registered thing, as a client knows it. */
export interface Thing {
  readonly thingId: string
  readonly thingToken: string
}

/** A write as a client means it; how flags and id travel is the door's affair. */
export interface ClientWrite {
  /** An object is sent as its JSON; text and bytes as they are. */
  readonly body: object | string | Uint8Array
  readonly options?: WriteOptions
}

/** A refused record, less its message. */
export interface Refusal {
  readonly index: number
  readonly field: string
  readonly reason: Reason
}

/** What a client learns of its write. */
export type Answer =
  | { readonly created: true; readonly rejected?: readonly Refusal[] }
  | { readonly refused: Reason; readonly errors?: readonly Refusal[] }

/** What the case table needs of a door. Records are read over HTTP, whichever door they came through. */
export interface Door {
  /** As the refused writes name it. */
  readonly kind: 'http' | 'mqtt'
  /** Resolves when the write is acknowledged. @throws if it neither was nor was refused for its content */
  write(thing: Thing, write: ClientWrite): Promise<Answer>
  close(): Promise<void>
}

/** A record as it reads back, less its key. */
export interface ReadRecord {
  readonly value: unknown
  /** ISO 8601; `receipt` stands for the time at which the write came in. */
  readonly datetime: string
  readonly geo?: Geo
}
