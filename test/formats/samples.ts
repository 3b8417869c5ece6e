import { readdirSync, readFileSync } from 'node:fs'
import type { SentRecord } from '../../src/formats/format.ts'

interface SampleMessage {
  /** Of a thing's own address, what stands behind `things/<ref>/`. */
  readonly topic?: string
  /** What is no text is sent as JSON. */
  readonly payload: unknown
  /** Of a webhook: its query and headers. */
  readonly post?: Readonly<Record<string, unknown>>
}

/** Messages as devices publish them, and what they become. */
export interface Sample {
  readonly name: string
  /** The document, or repository, commit and file, that has the messages. */
  readonly from: string
  readonly messages: readonly SampleMessage[]
  /** By device; the device `thing` is the one whose address it is. */
  readonly expect: Readonly<Record<string, { readonly records: readonly SentRecord[] }>>
}

const folder = new URL('samples/', import.meta.url)

/** The samples of each format, by its name. */
export const samples: ReadonlyMap<string, readonly Sample[]> = new Map(
  readdirSync(folder).map(file => [
    file.replace(/\.json$/, ''),
    JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as readonly Sample[],
  ]),
)
