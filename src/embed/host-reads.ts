import { z } from 'zod'
import type { Access } from '../access/access.ts'
import type { FairQueue } from '../core/async/fair-queue.ts'
import { assertNames, assertOptions } from '../core/options/given-options.ts'
import type { RecordStore, TimeRange } from '../core/ports.ts'
import { parseDatetime } from '../core/record/datetime.ts'
import type { StoredRecord } from '../core/record/record.ts'
import { ThingwireError } from '../errors.ts'
import { createReads, type MagicStates } from '../http/reading/magic-states.ts'
import { pages, shortPage } from '../http/reading/pages.ts'
import { isKey } from '../http/request/paths.ts'
import { aThingId, thingOf } from './known-thing.ts'
import type { HostThings, JsonValue, Reading, ReadReadingsOptions, Time } from './reading.ts'

interface HostReadsParts {
  readonly access: Access
  readonly adminKey: string
  readonly records: Pick<RecordStore, 'read' | 'aggregate' | 'resources'>
  readonly magic: MagicStates
  readonly costlyReads: FairQueue
}

/** The principal name under which costly reads of the host wait their turn. */
const readerName = 'host'

const aKey = { schema: z.string(), rule: 'the key of a resource' }

/** `HostThings.read`, implemented with the reads of the HTTP door. */
export function createHostRead(parts: HostReadsParts): HostThings['read'] {
  const { costlyReads } = parts
  const { page } = createReads(parts.records, parts.magic)
  return async (thingId, key, options = {}) => {
    assertOptions('read', { thingId: aThingId, key: aKey }, { thingId, key }, '')
    assertNames('read', ['last', 'from', 'to'], options, '{ last: 10 }')
    const limit = limitOf(options)
    const query = { ...rangeOf(options), order: 'desc', limit } as const
    await thingOf(parts, thingId, 'read')
    if (!isKey(key)) throw new ThingwireError('unknown_resource')
    const found = pages({ read: page }, thingId, key, query)
    const readings: Reading[] = []
    for await (const records of limit <= shortPage ? found : costlyReads.stream(readerName, found)) {
      for (const record of records) readings.push(readingOf(thingId, record))
    }
    return readings
  }
}

/** A record with its value parsed. */
export function readingOf(thingId: string, { key, value, datetime, geo }: StoredRecord): Reading {
  const reading = { thingId, key, value: JSON.parse(value) as JsonValue, datetime: new Date(datetime) }
  return geo ? { ...reading, geo: { ...geo } } : reading
}

function limitOf({ last, from, to }: ReadReadingsOptions): number {
  if (last === undefined) return from === undefined && to === undefined ? 1 : Number.POSITIVE_INFINITY
  if (Number.isSafeInteger(last) && last >= 1) return last
  throw new ThingwireError('invalid_limit', 'last must be a whole number from 1')
}

function rangeOf({ from, to }: ReadReadingsOptions): TimeRange {
  return {
    ...(from === undefined ? {} : { from: millisecondsOf('from', from) }),
    ...(to === undefined ? {} : { to: millisecondsOf('to', to) }),
  }
}

function millisecondsOf(name: string, time: Time): number {
  const milliseconds = typeof time === 'string' ? parseDatetime(time) : Number(time)
  // No record is from before 1970.
  if (milliseconds !== undefined && Number.isFinite(milliseconds))
    return Math.max(Math.floor(milliseconds), 0)
  throw new ThingwireError(
    'invalid_range',
    `${name} must be a Date, milliseconds since 1970, or a text in the form YYYYMMDDHHmmss (UTC) or RFC 3339`,
  )
}
