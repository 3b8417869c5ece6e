import type { AcceptedRecord, StoredRecord } from '../../core/record.ts'
import type { Commit, Latest, RefusedWrite } from '../contract.ts'
import { decodeState } from './record-member.ts'

/**
 * An entry of the commit log as Redis gives it. Its id is `<write number>-0`, its fields are names and values in turn, in
 * this order:
 *
 * | name | value | how often |
 * |---|---|---|
 * | `t` | thing id | 0..1 |
 * | `c` | JSON `{receivedAt, broadcast, stored}`: the entry is a commit | 0..1, behind `t` |
 * | `e` | JSON: a refused write | 0..1, behind `t` |
 * | `o` | the node that wrote it | 0..1 |
 * | `r` | JSON list of the records that are new, in the order of the write | 0..1 |
 * | `l` | JSON list of `{key, record?}`: the states that were put | 0..1 |
 * | `n`, then `v` | key; what a removal has left as its newest record | 0..1 |
 * | `u`, then `v` | key; what was latest of it before | 0..n |
 * | `d` | JSON list of the names of documents that were put or removed | 0..1 |
 *
 * A `v` holds a state (record-member.ts), or nothing.
 */
export type LogEntry = readonly [id: Buffer, fields: readonly Buffer[]]

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

type CommitHead = Pick<Commit, 'receivedAt' | 'broadcast' | 'stored'>

export function writeNumberOf([id]: LogEntry): number {
  return Number.parseInt(id.toString('latin1'), 10)
}

/** Thing id of a commit; undefined: it is none. Parses nothing. */
export function thingOfCommit([, fields]: LogEntry): string | undefined {
  return fields[2]?.toString('latin1') === 'c' ? fields[1]?.toString('latin1') : undefined
}

export function decodeEntry(entry: LogEntry): DecodedEntry {
  const [, fields] = entry
  const writeNumber = writeNumberOf(entry)
  let thingId = ''
  let node = ''
  let head: CommitHead | undefined
  let refused: RefusedWrite | undefined
  let records: readonly AcceptedRecord[] = []
  let documents: readonly string[] = []
  const latest: Latest[] = []
  const undo: Undo[] = []
  for (let at = 0; at < fields.length; at += 2) {
    const name = fields[at]?.toString('latin1')
    if (name === 'v') continue
    const text = fields[at + 1]?.toString() ?? ''
    const state = fields[at + 3]
    if (name === 't') thingId = text
    else if (name === 'c') head = JSON.parse(text)
    else if (name === 'e') refused = JSON.parse(text)
    else if (name === 'o') node = text
    else if (name === 'r') records = JSON.parse(text)
    else if (name === 'l') latest.push(...decodeLatest(text))
    else if (name === 'n') latest.push({ key: text, record: recordIn(text, state) })
    else if (name === 'u') undo.push({ thingId, key: text, writeNumber, before: copyOf(state) })
    else if (name === 'd') documents = JSON.parse(text)
  }
  const commit = head && { thingId, writeNumber, ...head, records, latest }
  return { writeNumber, node, thingId, commit, undo, documents, refused }
}

function decodeLatest(text: string): Latest[] {
  const states: readonly { key: string; record?: StoredRecord }[] = JSON.parse(text)
  return states.map(({ key, record }) => ({ key, record }))
}

function recordIn(key: string, state: Buffer | undefined): StoredRecord | undefined {
  return state && state.length > 0 ? decodeState(key, state) : undefined
}

/** A part of what came over the socket would keep all of that in memory. */
function copyOf(state: Buffer | undefined): Buffer | undefined {
  return state && state.length > 0 ? Buffer.from(state) : undefined
}
