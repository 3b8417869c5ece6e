import { magicRecords } from '../../../core/commit-outline.ts'
import type { CommitOutline } from '../../../core/ports.ts'
import type { AcceptedRecord, StoredRecord, Writable } from '../../../core/record/record.ts'
import type { Commit } from '../../contract.ts'

/**
 * A commit as the log has it: text of `<node> <receipt time, ms> <flags> <how many records> <JSON>`. The node is that which
 * wrote it, or nothing if it was moved here; flags are 1 for `broadcast`, 2 for `stored` and 4 for records whose key is magic,
 * added up; JSON is
 * `{records?, latest?}`: the records that are new, in the order of the write, without a datetime, or with null, where that is the receipt time,
 * and a list of `{key, record?}`, the states that were put.
 */
type CommitText = string

/** Without a datetime, or with null as JSON has it for NaN, where that is the receipt time. */
type LoggedRecord = Omit<AcceptedRecord, 'datetime' | 'explicit'> & { readonly datetime?: number | null }

interface Lists {
  readonly records?: readonly LoggedRecord[]
  readonly latest?: readonly { readonly key: string; readonly record?: StoredRecord }[]
}

const broadcastFlag = 1
const storedFlag = 2
const magicFlag = 4
/** What a commit, and a record of it, takes beside its text. */
const overhead = 64

const none: readonly never[] = []

/** Of a commit that was read elsewhere. */
export function commitText(commit: Commit): CommitText {
  const { receivedAt, broadcast, stored, records, latest } = commit
  const hasMagic = magicRecords(commit).length > 0
  const flags = (broadcast ? broadcastFlag : 0) + (stored ? storedFlag : 0) + (hasMagic ? magicFlag : 0)
  const asSent = records.map(({ explicit, datetime, ...record }) =>
    explicit ? { datetime, ...record } : record,
  )
  return ` ${receivedAt} ${flags} ${records.length} ${JSON.stringify({ records: asSent, latest })}`
}

/**
 * A commit of the log. Its records are parsed when they are asked for: a node reads what all others write, and of most of it
 * nobody there wants to know more than that.
 */
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

  /** @param reader node that reads it: to that node, a commit of another one `isElsewhere`. Absent: `isElsewhere` is left out */
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

  /** What a removal has left of a resource: that is beside the text. */
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
