import { inspect } from 'node:util'
import { z } from 'zod'
import type { Access } from '../access/access.ts'
import { Turns } from '../core/async/turns.ts'
import type { Ingest, WriteRequest } from '../core/ingest.ts'
import { assertNames, assertOptions } from '../core/options/given-options.ts'
import { formatDatetime, latestDatetime } from '../core/record/datetime.ts'
import { aThingId, thingOf } from './known-thing.ts'
import type { NewReading, WriteReadingsOptions } from './reading.ts'

/** Limits for the text of a refused write. Only the first 200 characters of the text are shown. */
const shownRecords = {
  depth: 4,
  maxArrayLength: 20,
  maxStringLength: 200,
  breakLength: Number.POSITIVE_INFINITY,
}

const someRecords = {
  schema: z.array(z.unknown()),
  rule: "a list such as [{ key: 'temperature', value: 21.5 }]",
}

interface HostWritesParts {
  readonly ingest: Pick<Ingest, 'write'>
  readonly access: Access
  readonly adminKey: string
}

/** Submits the writes of the host in the order of its calls. */
export class HostWrites {
  readonly #parts: HostWritesParts
  readonly #turns = new Turns()

  constructor(parts: HostWritesParts) {
    this.#parts = parts
  }

  /** Implements `HostThings.write`. */
  async write(
    thingId: string,
    records: readonly NewReading[],
    options: WriteReadingsOptions = {},
  ): Promise<void> {
    assertOptions('write', { thingId: aThingId, records: someRecords }, { thingId, records }, '')
    assertNames('write', ['store', 'broadcast', 'id'], options, '{ broadcast: false }')
    const turn = this.#turns.take()
    let written: Promise<unknown>
    try {
      const request = new HostWrite(thingId, { values: records.map(withDatetimeText), ...options })
      const known = thingOf(this.#parts, thingId, 'write')
      // Without this handler, a rejection of `known` during `turn.wait()` would be unhandled.
      known.catch(() => {})
      await turn.wait()
      await known
      written = this.#parts.ingest.write(request)
    } finally {
      turn.done()
    }
    await written
  }
}

/** Creates the text of the write only when `body` is read, since only a refused write needs it. */
class HostWrite implements WriteRequest {
  readonly thingId: string
  readonly door = 'host'
  readonly options = {}
  readonly content: object

  constructor(thingId: string, content: object) {
    this.thingId = thingId
    this.content = content
  }

  get body(): Uint8Array {
    return Buffer.from(inspect(this.content, shownRecords))
  }
}

/** Replaces a datetime that is a `Date` or a number with text. */
function withDatetimeText(record: unknown): unknown {
  if (typeof record !== 'object' || record === null) return record
  const { datetime } = record as Partial<NewReading>
  if (!(datetime instanceof Date) && typeof datetime !== 'number') return record
  return { ...record, datetime: datetimeText(Number(datetime)) }
}

/** Formats a time as a datetime. A time that is out of range becomes the number as text, so that the write is refused. */
function datetimeText(milliseconds: number): string {
  const isSpelled = Math.abs(milliseconds) <= latestDatetime
  return isSpelled ? formatDatetime(Math.floor(milliseconds)) : String(milliseconds)
}
