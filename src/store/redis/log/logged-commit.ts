import { magicRecords } from '../../../core/commit-outline.ts'
import type { CommitOutline } from '../../../core/ports.ts'
import type { AcceptedRecord, StoredRecord, Writable } from '../../../core/record/record.ts'
import type { Commit } from '../../contract.ts'

/**
 * The text of a commit in the log: `<node> <receipt time, ms> <flags> <number of records> <JSON>`. `<node>` names the node that
 * wrote the commit, or is empty if `thingwire migrate` moved the commit. `<flags>` is the sum of 1 for `broadcast`, 2 for `stored`
 * and 4 if a record has a magic key. The JSON is `{records?, latest?}`: the new records in the order of the write, and the states
 * that were put, as a list of `{key, record?}`.
 */
type CommitText = string

/** The datetime of a record is missing, or null (the JSON form of NaN), if it is the receipt time. */
type LoggedRecord = Omit<AcceptedRecord, 'datetime' | 'explicit'> & { readonly datetime?: number | null }

interface Lists {
  readonly records?: readonly LoggedRecord[]
  readonly latest?: readonly { readonly key: string; readonly record?: StoredRecord }[]
}

const broadcastFlag = 1
const storedFlag = 2
const magicFlag = 4
/** Approximate bytes of a commit, and of each of its records, in addition to the text. */
const overhead = 64

const none: readonly never[] = []

/** The text of a commit that is moved from another store. */
export function commitText(commit: Commit): CommitText {
  const { receivedAt, broadcast, stored, records, latest } = commit
  const hasMagic = magicRecords(commit).length > 0
  const flags = (broadcast ? broadcastFlag : 0) + (stored ? storedFlag : 0) + (hasMagic ? magicFlag : 0)
  const asSent = records.map(({ explicit, datetime, ...record }) =>
    explicit ? { datetime, ...record } : record,
  )
  return ` ${receivedAt} ${flags} ${records.length} ${JSON.stringify({ records: asSent, latest })}`
}

/** A commit of the log. Its JSON is parsed on demand: a node reads all commits of all nodes, but needs the JSON of only a few. */
export class LoggedCommit implements Commit {
  readonly thingId: string
  readonly writeNumber: number
  readonly node: string
  readonly receivedAt: number
  readonly stored: boolean
  readonly broadcast: boolean
  readonly isElsewhere?: true
  readonly outline: CommitOutline
  #json: string | undefined
  #records: Commit['records'] = none
  #latest: Commit['latest'] = none

  /** @param reader name of this node; if given, `isElsewhere` is set for commits of other nodes */
  constructor(thingId: string, writeNumber: number, text: CommitText, reader?: string) {
    const receiptAt = text.indexOf(' ') + 1
    const flagsAt = text.indexOf(' ', receiptAt) + 1
    const countAt = text.indexOf(' ', flagsAt) + 1
    const jsonAt = text.indexOf(' ', countAt) + 1
    const flags = Number(text.slice(flagsAt, countAt - 1))
    const records = Number(text.slice(countAt, jsonAt - 1))
    this.thingId = thingId
    this.writeNumber = writeNumber
    this.node = text.slice(0, receiptAt - 1)
    this.receivedAt = Number(text.slice(receiptAt, flagsAt - 1))
    this.stored = (flags & storedFlag) !== 0
    this.broadcast = (flags & broadcastFlag) !== 0
    if (reader !== undefined && this.node !== reader) this.isElsewhere = true
    const hasMagic = (flags & magicFlag) !== 0
    this.outline = { records, hasMagic, bytes: text.length + overhead * (records + 1) }
    this.#json = text.slice(jsonAt)
  }

  get records(): Commit['records'] {
    this.#parse()
    return this.#records
  }

  get latest(): Commit['latest'] {
    this.#parse()
    return this.#latest
  }

  /** Sets the newest record that a removal has left in a resource, since the text does not contain it. */
  leave(key: string, record: StoredRecord | undefined): void {
    this.#parse()
    this.#latest = [{ key, record }]
  }

  #parse(): void {
    if (this.#json === undefined) return
    const { records = none, latest } = JSON.parse(this.#json) as Lists
    this.#json = undefined
    this.#records = records.map(record => acceptedAt(record, this.receivedAt))
    if (latest) this.#latest = latest.map(({ key, record }) => ({ key, record }))
  }
}

function acceptedAt(record: LoggedRecord, receivedAt: number): AcceptedRecord {
  const { key, value, place, geo, datetimeText, written } = record
  const datetime = record.datetime ?? undefined
  const accepted: Writable<AcceptedRecord> = {
    key,
    datetime: datetime ?? receivedAt,
    value,
    place,
    explicit: datetime !== undefined,
  }
  if (geo) accepted.geo = geo
  if (datetimeText !== undefined) accepted.datetimeText = datetimeText
  if (written) accepted.written = written
  return accepted
}
