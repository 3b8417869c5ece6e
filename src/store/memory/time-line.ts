import { partitionPoint } from '../../core/algorithms/partition-point.ts'
import { maximumPageText } from '../../core/ports.ts'
import { Aggregation } from '../../core/record/aggregation.ts'
import type { AcceptedRecord, StoredRecord } from '../../core/record/record.ts'
import { measurement, storedForm } from '../../core/record/record.ts'
import { ThingwireError } from '../../errors.ts'
import type { AggregateQuery, Aggregates, Page, PageQuery, TimeRange } from '../contract.ts'

interface Position {
  readonly datetime: number
  readonly writeNumber: number
  readonly place: number
}

interface Row extends Position {
  readonly record: StoredRecord
  readonly measurement: string
}

const cursorForm = /^(\d+)-(\d+)-(\d+)$/

/** The records of one resource, ordered by datetime, then write number, then place. */
export class TimeLine {
  #rows: Row[] = []

  get isEmpty(): boolean {
    return this.#rows.length === 0
  }

  get newest(): StoredRecord | undefined {
    return this.#rows.at(-1)?.record
  }

  /** @returns whether the record was stored: false for a resend */
  add(accepted: AcceptedRecord, writeNumber: number): boolean {
    const { place, explicit } = accepted
    const record = storedForm(accepted)
    const row = { datetime: record.datetime, writeNumber, place, record, measurement: measurement(record) }
    if (explicit && this.#holds(row)) return false
    this.#rows.splice(this.#indexOf(row), 0, row)
    return true
  }

  /** @throws ThingwireError invalid_cursor */
  page({ from, to, order, limit, cursor }: PageQuery): Page {
    const rows = this.#between({ from, to })
    if (order === 'desc') rows.reverse()
    const after = cursor === undefined ? undefined : readCursor(cursor)
    const rest = after === undefined ? rows : rows.filter(row => isAfter(row, after, order))
    const length = lengthOfPage(rest, ({ record }) => record.value.length)
    const records = rest.slice(0, Math.min(limit, length))
    const last = records.at(-1)
    const page = { records: records.map(row => row.record) }
    return last && rest.length > records.length ? { ...page, next: writeCursor(last) } : page
  }

  aggregate(query: AggregateQuery): Aggregates {
    const rows = this.#between(query)
    if (query.order === 'desc') rows.reverse()
    const answer = new Aggregation(query)
    for (const { datetime, record } of rows) if (!answer.add(datetime, record.value)) break
    return answer.end()
  }

  /** @returns how many records were removed */
  remove(range: TimeRange): number {
    const removed = new Set(this.#between(range))
    this.#rows = this.#rows.filter(row => !removed.has(row))
    return removed.size
  }

  /** Removes the records before `datetime` (exclusive), but never the newest record. @returns how many records were removed */
  removeOld(datetime: number): number {
    const count = Math.min(this.#indexOf(startOf(datetime)), Math.max(this.#rows.length - 1, 0))
    this.#rows.splice(0, count)
    return count
  }

  #holds(wanted: Row): boolean {
    const { datetime } = wanted
    return this.#between({ from: datetime, to: datetime + 1 }).some(
      row => row.measurement === wanted.measurement,
    )
  }

  #between({ from, to }: { from?: number | undefined; to?: number | undefined }): Row[] {
    const start = from === undefined ? 0 : this.#indexOf(startOf(from))
    const end = to === undefined ? this.#rows.length : this.#indexOf(startOf(to))
    return this.#rows.slice(start, end)
  }

  /** The index of the first row at or after `position`. */
  #indexOf(position: Position): number {
    return partitionPoint(this.#rows, row => compare(row, position) < 0)
  }
}

/** Number of items in a page: up to the item with which the total length reaches `maximumPageText`, or else all items. */
export function lengthOfPage<Item>(items: readonly Item[], lengthOf: (item: Item) => number): number {
  let characters = 0
  const reached = items.findIndex(item => {
    characters += lengthOf(item)
    return characters >= maximumPageText
  })
  return reached === -1 ? items.length : reached + 1
}

function startOf(datetime: number): Position {
  return { datetime, writeNumber: 0, place: 0 }
}

function compare(a: Position, b: Position): number {
  return a.datetime - b.datetime || a.writeNumber - b.writeNumber || a.place - b.place
}

function isAfter(row: Row, position: Position, order: PageQuery['order']): boolean {
  return order === 'asc' ? compare(row, position) > 0 : compare(row, position) < 0
}

function writeCursor({ datetime, writeNumber, place }: Position): string {
  return `${datetime}-${writeNumber}-${place}`
}

function readCursor(cursor: string): Position {
  const [, datetime, writeNumber, place] = cursorForm.exec(cursor) ?? []
  if (place === undefined) throw new ThingwireError('invalid_cursor')
  return { datetime: Number(datetime), writeNumber: Number(writeNumber), place: Number(place) }
}
