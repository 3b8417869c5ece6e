import { readdirSync, readFileSync } from 'node:fs'
import type { SentRecord } from '../../src/formats/format.ts'

/** Messages as devices publish them, and what they become. */
export interface Sample {
  readonly name: string
  /** The document, or repository, commit and file, that has the messages. */
  readonly from: string
  /** Topics of a thing's own address are those behind `things/<ref>/`. */
  readonly messages: readonly { readonly topic: string; readonly payload: string }[]
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
