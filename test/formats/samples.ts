import { readdirSync, readFileSync } from 'node:fs'
import type { ResourceDescription, SentRecord, Unread } from '../../src/formats/format.ts'

/** A message as a device publishes it. A payload that is no text is sent as JSON. */
export interface SampleMessage {
  /** Of a thing's own address, what stands behind `things/<ref>/`; empty if a webhook posts the message. */
  readonly topic?: string
  readonly payload: unknown
  /** Of a webhook: its query and headers. */
  readonly post?: { readonly query?: Record<string, string>; readonly headers?: Record<string, string> }
}

/** Messages that a device sends, and what they become. */
export interface Sample {
  readonly name: string
  /** Repository, path and commit, or the document. */
  readonly from: string
  /** Of the format levels. */
  readonly pattern?: string
  readonly messages: readonly SampleMessage[]
  /** By device. */
  readonly expect: Readonly<
    Record<
      string,
      {
        readonly records: readonly SentRecord[]
        readonly resources?: Readonly<Record<string, ResourceDescription>>
        readonly name?: string
        /** Of each reading; null: none. */
        readonly writeIds?: readonly (string | null)[]
      }
    >
  >
  readonly unread?: readonly Unread[]
}

const folder = new URL('samples/', import.meta.url)

/** The samples of each format, by its name. */
export const samples: ReadonlyMap<string, readonly Sample[]> = new Map(
  readdirSync(folder).map(file => [
    file.replace(/\.json$/, ''),
    JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as readonly Sample[],
  ]),
)
