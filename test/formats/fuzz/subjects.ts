import { isDeepStrictEqual } from 'node:util'
import { parseDatetime } from '../../../src/core/record/datetime.ts'
import { isOrdinaryKey } from '../../../src/core/record/key.ts'
import { parseRecord } from '../../../src/core/record/parse-record.ts'
import { isProblem } from '../../../src/core/record/problem.ts'
import { isForbiddenMember } from '../../../src/core/record/value.ts'
import { catalogue, ThingwireError } from '../../../src/errors.ts'
import {
  type Outcome,
  type OwnFormat,
  type SentRecord,
  type SourceFormat,
  type SourceReader,
  wholeOf,
} from '../../../src/formats/format.ts'
import { createMagicRegistry } from '../../../src/magic/registry.ts'
import { type Packet, parsed } from './mutate-packet.ts'

/** A reader of a format, and what it may never do. */
export interface Subject {
  /** Reads a packet, with the same result each time. */
  read(packet: Packet): unknown
  /** Takes what the packet taught, with the same effect each time. */
  learn(result: unknown): void
  problems(packet: Packet, result: unknown): readonly string[]
}

const now = Date.UTC(2026, 0, 1)
const magic = createMagicRegistry()

/** The answer of an own format is all records or a refusal of the content: it cannot take a part. */
export function ownSubject(format: OwnFormat): Subject {
  return {
    read({ topic, payload }) {
      const [, name, ...levels] = topic.split('/')
      try {
        return name === format.name ? format.read(levels, payload) : []
      } catch (error) {
        if (error instanceof ThingwireError) return error
        throw error
      }
    },
    learn() {},
    problems(_, result) {
      if (!(result instanceof ThingwireError)) return recordProblems(result as readonly SentRecord[])
      const { status, mqtt } = catalogue[result.reason]
      return status === 400 && mqtt === 'report' ? [] : [`it is refused with ${result.reason}`]
    },
  }
}

/** `readPost` is there in formats of webhooks. */
type Poster = SourceReader & {
  readPost?(post: {
    readonly body: unknown
    readonly query: Readonly<Record<string, unknown>>
    readonly headers: Readonly<Record<string, unknown>>
  }): Outcome | undefined
}

/** @param bodyOf gives the body of a post; undefined: the format does not get it */
export function sourceSubject(format: SourceFormat, bodyOf: (payload: Buffer) => unknown = parsed): Subject {
  const reader: Poster = format.begin()
  const read = ({ topic, payload, post }: Packet): Outcome => {
    const body = post && bodyOf(payload)
    const outcome = post
      ? body !== undefined && reader.readPost?.({ query: {}, headers: {}, ...post, body })
      : reader.knows(topic) && wholeOf(reader.read({ topic, payload, receivedAt: now }))
    return outcome || { readings: [] }
  }
  return {
    read,
    learn(result) {
      const { facts, described = [], readings } = result as Outcome
      for (const [name, fact] of facts ?? []) reader.learn(name, fact)
      for (const device of [...described, ...readings.map(({ device }) => device)]) reader.describe(device)
    },
    problems(packet, result) {
      const outcome = result as Outcome
      const problems = outcomeProblems(outcome)
      if (!isSame(read(packet), outcome)) problems.push('it is read differently the second time')
      const devices = [...(outcome.described ?? []), ...outcome.readings.map(({ device }) => device)]
      const keys = devices.flatMap(device => Object.keys(reader.describe(device)?.resources ?? {}))
      const wrong = keys.filter(key => !isOrdinaryKey(key) || isForbiddenMember(key))
      return wrong.length === 0 ? problems : [...problems, `these keys are described: ${wrong}`]
    },
  }
}

function isSame(one: Outcome, other: Outcome): boolean {
  try {
    return isDeepStrictEqual(one, other)
  } catch (error) {
    // A value may be too deep to be compared; ingest refuses it.
    if (error instanceof RangeError) return true
    throw error
  }
}

function outcomeProblems({ readings, facts, unread = [] }: Outcome): string[] {
  const problems = readings.flatMap(({ records }) => recordProblems(records))
  for (const { device, records, writeId } of readings) {
    if (typeof device !== 'string' || device === '') problems.push('a reading is of no device')
    if (writeId !== undefined && !/^[\x20-\x7e]{1,64}$/.test(writeId))
      problems.push(`a write id is ${writeId}`)
    for (const { datetime } of records) {
      const isCertain = datetime === undefined || (parseDatetime(datetime) ?? 0) >= Date.UTC(1971, 0, 1)
      if (!isCertain) problems.push(`a record is at ${datetime}`)
    }
  }
  for (const [name, fact] of facts ?? []) {
    if (!isJson(fact)) problems.push(`the fact ${name} is no JSON`)
  }
  for (const { place, reason } of unread) {
    if (typeof place !== 'string' || !/[^.]$/.test(reason)) problems.push(`${place} is unread: ${reason}`)
  }
  return problems
}

/** Whether JSON keeps a value as it is; an undefined member is one that is not there. */
function isJson(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isJson)
  if (typeof value !== 'object' || value === null)
    return value === null || /^(?:string|boolean)$/.test(typeof value) || Number.isFinite(value)
  return Object.values(value).every(member => member === undefined || isJson(member))
}

/** The rules of a record may refuse a value or a datetime, never a key. */
function recordProblems(records: readonly SentRecord[]): string[] {
  const problems: string[] = []
  for (const [place, record] of records.entries()) {
    const result = parseRecord(record, place, { now, magic })
    const isReadable =
      !isProblem(result) || (/^(?:value|datetime)$/.test(result.field) && result.reason !== 'invalid_value')
    if (!isReadable) problems.push(`${result.message}: ${JSON.stringify(record).slice(0, 200)}`)
  }
  return problems
}
