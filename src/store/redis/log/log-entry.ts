import type { Lock } from '../../../core/locks.ts'
import type { StoredRecord } from '../../../core/record/record.ts'
import type { RefusedWrite } from '../../contract.ts'
import { decodeState } from '../record-member.ts'
import { LoggedCommit } from './logged-commit.ts'

/**
 * An entry of the commit log, as Redis returns it. Its id is `<write number>-0`. Its fields are alternately names and values, in
 * this order:
 *
 * | name | value | how often |
 * |---|---|---|
 * | `t` | thing id | 0..1 |
 * | `c` | text of a commit (logged-commit.ts) | 0..1, after `t` |
 * | `e` | JSON of a refused write | 0..1, after `t` |
 * | `o` | the node that wrote the entry; not in a commit, whose text names the node | 0..1 |
 * | `n`, then `v` | key; its newest record after a removal | 0..1 |
 * | `u`, then `v` | key; its state or newest record before the change | 0..n |
 * | `d` | JSON list of the names of documents that were put or removed | 0..1 |
 * | `h` | owner and name of a lock that was taken, separated by a space | 0..1 |
 *
 * The value of `v` is a state (record-member.ts), or empty.
 */
export type LogEntry = readonly [id: Buffer, fields: readonly Buffer[]]

/** Consecutive entries that are only commits, one line each: id, thing id and `c`, separated by spaces. This saves many objects. */
export type ShortEntries = Buffer

export interface DecodedEntry {
  readonly writeNumber: number
  readonly node: string
  readonly thingId: string
  readonly commit: LoggedCommit | undefined
  readonly undo: readonly Undo[]
  readonly documents: readonly string[]
  readonly refused: RefusedWrite | undefined
  readonly taken: Lock | undefined
}

/** A change of a resource's state, or the removal of its newest record. */
export interface Undo {
  readonly thingId: string
  readonly key: string
  readonly writeNumber: number
  /** State or newest record before the change, in the form of a state (record-member.ts); undefined if there was none. */
  readonly before: Buffer | undefined
}

/** Shared by all entries to save memory, since every node reads every entry. */
const none: readonly never[] = []

const lineFeed = 10

/** Maximum number of digits of a write number. */
const longestNumber = 16

export function writeNumberOf([id]: LogEntry): number {
  return Number.parseInt(id.toString('latin1', 0, longestNumber), 10)
}

/** The thing id of a commit; undefined if the entry is not a commit. */
export function thingOfCommit([, fields]: LogEntry): string | undefined {
  return fields[2]?.toString('latin1') === 'c' ? fields[1]?.toString('latin1') : undefined
}

/** @param reader as in `LoggedCommit` */
export function decodeEntry(entry: LogEntry, reader?: string): DecodedEntry {
  const [, fields] = entry
  const writeNumber = writeNumberOf(entry)
  let thingId = ''
  let node = ''
  let commit: LoggedCommit | undefined
  let refused: RefusedWrite | undefined
  let documents: readonly string[] = none
  let undo: Undo[] | undefined
  let taken: Lock | undefined
  for (let at = 0; at < fields.length; at += 2) {
    const name = String.fromCharCode(fields[at]?.[0] ?? 0)
    if (name === 'v') continue
    const text = fields[at + 1]?.toString() ?? ''
    const state = fields[at + 3]
    if (name === 't') thingId = text
    else if (name === 'c') {
      commit = new LoggedCommit(thingId, writeNumber, text, reader)
      node = commit.node
    } else if (name === 'e') refused = JSON.parse(text)
    else if (name === 'o') node = text
    else if (name === 'n') commit?.leave(text, recordIn(text, state))
    else if (name === 'u') {
      undo ??= []
      undo.push({ thingId, key: text, writeNumber, before: copyOf(state) })
    } else if (name === 'd') documents = JSON.parse(text)
    else if (name === 'h') taken = lockIn(text)
  }
  return { writeNumber, node, thingId, commit, undo: undo ?? none, documents, refused, taken }
}

/** @param after entries up to this write number, inclusive, are left out @param reader as in `LoggedCommit` */
export function decodeShort(entries: ShortEntries, after: number, reader?: string): LoggedCommit[] {
  const commits: LoggedCommit[] = []
  for (let start = 0, end = 0; start < entries.length; start = end + 1) {
    const newline = entries.indexOf(lineFeed, start)
    end = newline === -1 ? entries.length : newline
    // Decoded line by line, since a slice of one large string would keep the whole string in memory.
    const line = entries.toString('utf8', start, end)
    const thingAt = line.indexOf(' ') + 1
    const writeNumber = Number.parseInt(line, 10)
    if (writeNumber <= after) continue
    const textAt = line.indexOf(' ', thingAt) + 1
    commits.push(new LoggedCommit(line.slice(thingAt, textAt - 1), writeNumber, line.slice(textAt), reader))
  }
  return commits
}

function lockIn(text: string): Lock {
  const nameAt = text.indexOf(' ') + 1
  return { owner: text.slice(0, nameAt - 1), name: text.slice(nameAt) }
}

function recordIn(key: string, state: Buffer | undefined): StoredRecord | undefined {
  return state && state.length > 0 ? decodeState(key, state) : undefined
}

/** Copies a state, since a slice would keep the whole reply in memory. */
function copyOf(state: Buffer | undefined): Buffer | undefined {
  return state && state.length > 0 ? Buffer.from(state) : undefined
}
