import { type FieldError, ThingwireError } from '../errors.ts'
import { readJson } from './json/read-json.ts'
import { parseRecord, type RecordContext } from './record/parse-record.ts'
import { atRecord, isProblem, placeText } from './record/problem.ts'
import type { NewRecord } from './record/record.ts'
import { forbiddenMember, forbiddenMemberOf } from './record/value.ts'

/** Maximum number of records in one write (contract §2). */
export const maximumRecords = 10_000
const maximumNamedErrors = 20

const example = '{"values":[{"key":"temperature","value":21.5}]}'

export const writeIdForm = /^[\x20-\x7e]{1,64}$/

/**
 * Flags that override those in the body, and the write id: from the query and the Idempotency-Key header of HTTP, or from the User
 * Properties of MQTT 5.
 */
export interface WriteOptions {
  readonly store?: boolean | undefined
  readonly broadcast?: boolean | undefined
  readonly partial?: boolean | undefined
  readonly id?: string | undefined
}

interface ParseContext extends RecordContext {
  readonly options: WriteOptions
  /** Reads the records of a body in another format; there may be none. @throws ThingwireError */
  readonly read?: (() => readonly unknown[]) | undefined
}

export interface ParsedWrite {
  readonly id: string | undefined
  readonly store: boolean
  readonly broadcast: boolean
  readonly records: readonly NewRecord[]
  /** The refused records of a `partial` write, in order. */
  readonly rejected: readonly FieldError[]
}

/** A write was refused for its content. `writeId` is undefined if the write has no id or its id could not be read. */
export class WriteRefused extends ThingwireError {
  readonly writeId: string | undefined

  constructor(error: ThingwireError, writeId: string | undefined) {
    super(error.reason, error.message, error.errors && { errors: error.errors })
    this.writeId = writeId
  }
}

/**
 * Checks a write against every rule of contract §2 and §3. A wrong flag in the body is refused even if a query flag overrides it.
 *
 * @param body bytes, or the parsed content of a write by the host program
 * @throws WriteRefused, which names the first 20 bad records by index and field
 */
export function parseWrite(body: Uint8Array | object, context: ParseContext): ParsedWrite {
  let id: string | undefined
  try {
    id = writeId(context.options.id)
    const { read } = context
    const envelope = read ? { values: read() } : parseObject(body)
    const idOfBody = writeId(envelope.id)
    if (id !== undefined && idOfBody !== undefined && id !== idOfBody)
      throw new ThingwireError(
        'invalid_write_id',
        'the id of the body must equal the Idempotency-Key header, or the User Property id of MQTT 5',
      )
    id ??= idOfBody
    const forbidden = forbiddenMemberOf(envelope)
    if (forbidden)
      throw new ThingwireError('forbidden_member', forbiddenMember('the body', forbidden).message)
    const partial = flag('partial', context.options.partial, envelope.partial, false)
    const store = flag('store', context.options.store, envelope.store, true)
    const broadcast = flag('broadcast', context.options.broadcast, envelope.broadcast, true)
    const { records, rejected } = parseRecords(valuesOf(envelope, read ? 0 : 1), context)
    if (rejected.length > 0 && (!partial || records.length === 0)) throw recordsRefused(rejected)
    return { id, store, broadcast, records, rejected }
  } catch (error) {
    throw error instanceof ThingwireError ? new WriteRefused(error, id) : error
  }
}

function parseObject(body: Uint8Array | object): Record<string, unknown> {
  const parsed = body instanceof Uint8Array ? readJson(body) : body
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw new ThingwireError('invalid_body', `the body must be a JSON object such as ${example}`)
  }
  return parsed as Record<string, unknown>
}

function writeId(id: unknown): string | undefined {
  if (id === undefined) return undefined
  if (typeof id === 'string' && writeIdForm.test(id)) return id
  throw new ThingwireError('invalid_write_id', 'id must be a string of 1 to 64 printable ASCII characters')
}

function flag(name: string, fromRequest: boolean | undefined, fromBody: unknown, fallback: boolean): boolean {
  if (fromBody !== undefined && typeof fromBody !== 'boolean') {
    throw new ThingwireError('invalid_flag', `${name} must be true or false`)
  }
  return fromRequest ?? fromBody ?? fallback
}

function valuesOf(envelope: Record<string, unknown>, least: 0 | 1): readonly unknown[] {
  const { values } = envelope
  if (!Array.isArray(values) || values.length < least) {
    throw new ThingwireError(
      'invalid_values',
      `values must be an array of 1 to ${maximumRecords} records, such as ${example}`,
    )
  }
  if (values.length > maximumRecords) {
    const message = `values must contain at most ${maximumRecords} records, but it contains ${values.length}`
    throw new ThingwireError('too_many_records', message)
  }
  return values
}

/** Never pauses, though 10,000 records take 10 to 20 ms: during a pause, doors would have to hold back later writes. */
function parseRecords(values: readonly unknown[], context: ParseContext) {
  const records: NewRecord[] = []
  const rejected: FieldError[] = []
  for (let place = 0; place < values.length; place++) {
    const result = parseRecord(values[place], place, context)
    if (isProblem(result)) rejected.push(atRecord(place, result))
    else records.push(result)
  }
  return { records, rejected }
}

/** The error has the reason of the first bad record, since a device may read only the reason. */
function recordsRefused(rejected: readonly FieldError[]): ThingwireError {
  const errors = rejected.slice(0, maximumNamedErrors)
  const [first] = errors as [FieldError]
  const message = `${placeText(first.index)}: ${first.message}`
  const others = rejected.length - 1
  return new ThingwireError(
    first.reason,
    others === 0 ? message : `${message}; ${others} more of the records are refused`,
    { errors },
  )
}
