import type { StoredRecord } from '../../core/record.ts'
import type { Commit, RefusedWrite } from '../contract.ts'
import { decodeState } from './record-member.ts'

/**
 * An entry of the commit log as Redis gives it. Its id is `<write number>-0`, its fields are names and values in turn, in
 * this order:
 *
 * | name | value | how often |
 * |---|---|---|
 * | `t` | thing id | 0..1 |
 * | `c` | JSON `{node, receivedAt, broadcast?, stored?, records?, latest?}`: the entry is a commit | 0..1, behind `t` |
 * | `e` | JSON: a refused write | 0..1, behind `t` |
 * | `o` | the node that wrote it, where it is no commit | 0..1 |
 * | `n`, then `v` | key; what a removal has left as its newest record | 0..1 |
 * | `u`, then `v` | key; what was latest of it before | 0..n |
 * | `d` | JSON list of the names of documents that were put or removed | 0..1 |
 *
 * Of a commit there are the node that wrote it, or none if it was moved here; the records that are new, in the order of the
 * write; and as `latest` a list of `{key, record?}`, the states that were put. A `v` holds a state (record-member.ts), or nothing.
 */
export type LogEntry = readonly [id: Buffer, fields: readonly Buffer[]]

/**
 * An entry that is a commit and nothing else, as a reply to a commit brings it: id, thing id and `c`, with spaces between. A fifth
 * of the objects of a `LogEntry`, of which a node under full load has those of all nodes.
 */
export type ShortEntry = Buffer

export interface DecodedEntry {
  readonly writeNumber: number
  readonly node: string
  readonly thingId: string
  readonly commit: Commit | undefined
  readonly undo: readonly Undo[]
  readonly documents: readonly string[]
  readonly refused: RefusedWrite | undefined
}

/** A resource whose state, or newest record, a commit changed otherwise than by adding records. */
export interface Undo {
  readonly thingId: string
  readonly key: string
  /** Write number of the commit. */
  readonly writeNumber: number
  /** What was latest before it, in the form of a state (record-member.ts); undefined: nothing. */
  readonly before: Buffer | undefined
}

/** Lists that are empty are left out, and flags that are true. */
interface TextOfCommit extends Pick<Commit, 'receivedAt'>, Partial<Pick<Commit, 'broadcast' | 'stored'>> {
  readonly node: string
  readonly records?: Commit['records']
  readonly latest?: readonly { readonly key: string; readonly record?: StoredRecord }[]
}

type Writable<T> = { -readonly [Name in keyof T]: T[Name] }

/** Every entry is read by every node: one for all. */
const none: readonly never[] = []

/** Digits of a write number at most. */
const longestNumber = 16

export function writeNumberOf(entry: LogEntry | ShortEntry): number {
  const id = Buffer.isBuffer(entry) ? entry : entry[0]
  return Number.parseInt(id.toString('latin1', 0, longestNumber), 10)
}

/** Thing id of a commit; undefined: it is none. Parses nothing. */
export function thingOfCommit([, fields]: LogEntry): string | undefined {
  return fields[2]?.toString('latin1') === 'c' ? fields[1]?.toString('latin1') : undefined
}

/** @param reader node that is told of it: to it a commit of any other one `isElsewhere`. Absent: that is not said */
export function decodeEntry(entry: LogEntry | ShortEntry, reader?: string): DecodedEntry {
  if (Buffer.isBuffer(entry)) return decodeShort(entry, reader)
  const [, fields] = entry
  const writeNumber = writeNumberOf(entry)
  let thingId = ''
  let node = ''
  let commit: Writable<Commit> | undefined
  let refused: RefusedWrite | undefined
  let documents: readonly string[] = none
  let undo: Undo[] | undefined
  for (let at = 0; at < fields.length; at += 2) {
    const name = String.fromCharCode(fields[at]?.[0] ?? 0)
    if (name === 'v') continue
    const text = fields[at + 1]?.toString() ?? ''
    const state = fields[at + 3]
    if (name === 't') thingId = text
    else if (name === 'c') {
      const told = JSON.parse(text) as TextOfCommit
      node = told.node
      commit = commitOf(told, thingId, writeNumber, reader)
    } else if (name === 'e') refused = JSON.parse(text)
    else if (name === 'o') node = text
    else if (name === 'n' && commit) commit.latest = [{ key: text, record: recordIn(text, state) }]
    else if (name === 'u') {
      undo ??= []
      undo.push({ thingId, key: text, writeNumber, before: copyOf(state) })
    } else if (name === 'd') documents = JSON.parse(text)
  }
  return { writeNumber, node, thingId, commit, undo: undo ?? none, documents, refused }
}

function decodeShort(entry: ShortEntry, reader: string | undefined): DecodedEntry {
  const writeNumber = writeNumberOf(entry)
  const text = entry.toString()
  const thingAt = text.indexOf(' ') + 1
  const toldAt = text.indexOf(' ', thingAt) + 1
  const thingId = text.slice(thingAt, toldAt - 1)
  const told = JSON.parse(text.slice(toldAt)) as TextOfCommit
  const commit = commitOf(told, thingId, writeNumber, reader)
  return { writeNumber, node: told.node, thingId, commit, undo: none, documents: none, refused: undefined }
}

function commitOf(
  told: TextOfCommit,
  thingId: string,
  writeNumber: number,
  reader: string | undefined,
): Writable<Commit> {
  const { node, receivedAt, broadcast = true, stored = true, records = none } = told
  const latest = told.latest?.map(({ key, record }) => ({ key, record })) ?? none
  const commit: Writable<Commit> = { thingId, writeNumber, receivedAt, records, latest, stored, broadcast }
  if (reader !== undefined && node !== reader) commit.isElsewhere = true
  return commit
}

function recordIn(key: string, state: Buffer | undefined): StoredRecord | undefined {
  return state && state.length > 0 ? decodeState(key, state) : undefined
}

/** A part of what came over the socket would keep all of that in memory. */
function copyOf(state: Buffer | undefined): Buffer | undefined {
  return state && state.length > 0 ? Buffer.from(state) : undefined
}
