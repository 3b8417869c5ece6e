import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { readJson } from '../../src/core/json/read-json.ts'
import type { Geo } from '../../src/core/record/geo.ts'
import type { Reason } from '../../src/errors.ts'
import { write } from '../../src/http/operation/shapes.ts'
import { createThing } from '../helpers/http-client.ts'
import { type Answer, type ClientWrite, type Door, httpDoor, mqttDoor } from './doors.ts'
import { ReadBack, type ReadRecord, type Refusal, type RefusedWrite } from './read-back.ts'
import { type Service, startService } from './service.ts'

/** One write of a case, and what it must be answered. */
export interface Step extends ClientWrite {
  readonly answer: Answer
}

/** A row of the table: writes to a thing of its own, and everything that must be kept of them. */
export interface Case {
  readonly name: string
  /** One after another; the steps of an inner list are sent together, none waiting for another's answer. */
  readonly steps: readonly (Step | readonly Step[])[]
  /** By key, in ascending order; a key that is not here must not be there. */
  readonly records: Readonly<Record<string, readonly ReadRecord[]>>
}

/** A record as a client sends it. */
export interface SentRecord {
  readonly key: string
  readonly value?: unknown
  readonly geo?: unknown
  readonly datetime?: unknown
}

export const created: Answer = { created: true }

/** One record, to be read back as `read` says and otherwise as it was sent. */
export function taken(name: string, record: SentRecord, read: Partial<ReadRecord> = {}): Case {
  const expected = { value: record.value, datetime: 'receipt', ...geoOf(record.geo), ...read }
  return {
    name,
    steps: [{ body: { values: [record] }, answer: created }],
    records: { [record.key]: [expected] },
  }
}

function geoOf(geo: unknown): { geo?: Geo } {
  return geo === undefined || geo === null ? {} : { geo: geo as Geo }
}

/** One record, refused for this field. */
export function refused(name: string, record: unknown, field: string, reason: Reason): Case {
  return refusedBody(name, { values: [record] }, reason, [{ index: 0, field, reason }])
}

/** A whole body, refused. */
export function refusedBody(
  name: string,
  body: ClientWrite['body'],
  reason: Reason,
  errors?: readonly Refusal[],
): Case {
  return { name, steps: [{ body, answer: refusal(reason, errors) }], records: {} }
}

export function refusal(reason: Reason, errors?: readonly Refusal[]): Answer {
  return errors ? { refused: reason, errors } : { refused: reason }
}

/** A write of these records, answered `created`. */
export function written(...values: readonly object[]): Step {
  return { body: { values }, answer: created }
}

/** What a record without datetime and geo reads as. */
export function received(value: unknown): ReadRecord {
  return { value, datetime: 'receipt' }
}

/** An array nested so deep: `nested(2)` is `[[]]`. */
export function nested(depth: number): unknown {
  return depth === 1 ? [] : [nested(depth - 1)]
}

let service: Service

interface DoorUnderTest {
  readonly name: string
  /** @param index of the row in the table */
  readonly open: (index: number) => Door
  /** Whether the door has anything to do with the case that another one has not. Default: always. */
  readonly tries?: (row: Case) => boolean
}

const http: DoorUnderTest = {
  name: 'HTTP, options in the query',
  open: () => httpDoor(service.url, 'query'),
}
const httpWithBody: DoorUnderTest = {
  name: 'HTTP, options in the body',
  open: () => httpDoor(service.url, 'body'),
  tries: ({ steps }) => steps.flat().some(({ options }) => options !== undefined),
}
/** The first is that of which the store has most to keep. */
const mqtt = (['mqttUrl', 'webSocketUrl'] as const).flatMap((url, transport) =>
  ([2, 1, 0] as const).map(
    (qos): DoorUnderTest => ({
      name: `MQTT QoS ${qos} over ${transport === 0 ? 'TCP' : 'WebSocket'}`,
      open: index => mqttDoor(service, { url: service[url], qos, variant: index + qos + transport }),
    }),
  ),
)

/** Tries each row through every door of the project (contract §2 to §5), and holds the documented shape of a write against it. */
export function tryCases(groups: Readonly<Record<string, readonly Case[]>>): void {
  beforeAll(async () => {
    service = await startService()
  })
  afterAll(() => service.close())

  const table = Object.entries(groups).flatMap(([group, rows]) =>
    rows.map(row => ({ ...row, name: `${group}: ${row.name}` })),
  )

  it('has rows with names of their own', () => {
    expect(new Set(table.map(({ name }) => name)).size).toBe(table.length)
  })

  it('is documented as it is tried', () => {
    expect(table.filter(row => !isDocumented(row)).map(({ name }) => name)).toEqual([])
  })

  const doors = inject('doors') === 'all' ? [http, httpWithBody, ...mqtt] : [http, ...mqtt.slice(0, 1)]
  for (const { name, open, tries = () => true } of doors) {
    const tried = table.filter(tries)
    if (tried.length === 0) continue
    describe.concurrent(name, () => {
      for (const [index, row] of tried.entries()) {
        it(row.name, () => runCase(service, open(index), row))
      }
    })
  }
}

/** What no schema says: real times, sizes, depths, forbidden members, the limits of doubles. */
export const unsaid = new Set([
  'invalid_datetime',
  'datetime_out_of_range',
  'forbidden_member',
  'value_too_large',
  'value_too_deep',
  'number_out_of_range',
  'invalid_position',
  'invalid_settings',
  'invalid_utf8',
])

/** The body of a repeated id is not looked at, and no pattern bounds a number in a string. */
const undocumented = /: a known id with|: a (lat|long)itude of "/

/** Whether the shape takes what is taken whole, and refuses what is refused for its shape. */
function isDocumented({ name, steps }: Case): boolean {
  if (undocumented.test(name)) return true
  return steps.flat().every(({ body, format, options, answer }) => {
    if (format !== undefined) return true
    if ('created' in answer) return 'rejected' in answer || matches(body)
    return unsaid.has(answer.refused) || options !== undefined || !matches(body)
  })
}

export function matches(body: ClientWrite['body']): boolean {
  const isText = typeof body === 'string' || body instanceof Uint8Array
  try {
    return write.safeParse(isText ? readJson(Buffer.from(body)) : body).success
  } catch {
    return false
  }
}

/** Looked into whether or not a case writes there: a refused write must have left nothing. */
const usualKeys = ['reading', '$geo', '$settings', '$meta']

/** Sends the writes of a case through a door, and holds every answer and what is kept against the table. */
async function runCase(service: Service, door: Door, row: Case): Promise<void> {
  await tryCase(service, door, row).catch(async (error: unknown) => {
    await door.close().catch(() => {})
    throw error
  })
  await door.close()
}

async function tryCase(service: Service, door: Door, { steps, records }: Case): Promise<void> {
  const thing = await createThing(service)
  const readBack = new ReadBack(service, thing)
  const begun = Date.now()
  const sent: Step[] = []
  for (const step of steps) {
    const together = 'answer' in step ? [step] : step
    const answers = await Promise.all(together.map(each => door.write(thing, each)))
    expect(answers).toEqual(together.map(({ answer }) => through(door, answer)))
    sent.push(...together)
  }

  expect(await ordinary(readBack.keys())).toEqual(await ordinary(Object.keys(records)))
  for (const key of new Set([...usualKeys, ...Object.keys(records)])) {
    const ascending = await readBack.records(key, 'asc')
    const expected = records[key] ?? []
    expect(withoutReceipt(ascending, expected, begun)).toEqual(expected)
    expect(await readBack.records(key, 'desc')).toEqual(ascending.toReversed())
  }
  expect((await readBack.refusedWrites()).map(summary)).toEqual(refusedOf(sent, door).toReversed())
}

/** What a client learns through this door: over MQTT nothing names the refused records of a write that was taken. */
function through({ kind }: Door, answer: Answer): Answer {
  return kind === 'mqtt' && 'created' in answer ? { created: true } : answer
}

/** Keys in a fixed order, less the settings: those are named as one document, not by what was written. */
async function ordinary(keys: Promise<readonly string[]> | readonly string[]): Promise<readonly string[]> {
  return (await keys).filter(key => !key.startsWith('$settings')).toSorted()
}

/** Puts `receipt` in the place of each expected receipt time that lies between the first write and now. */
function withoutReceipt(read: readonly ReadRecord[], expected: readonly ReadRecord[], begun: number) {
  const now = Date.now()
  return read.map((record, index) => {
    const datetime = Date.parse(record.datetime)
    const isReceipt = expected[index]?.datetime === 'receipt' && datetime >= begun && datetime <= now
    return isReceipt ? { ...record, datetime: 'receipt' } : record
  })
}

function summary({ door, reason, errors, id }: RefusedWrite) {
  const named = errors?.map(({ index, field, reason }) => ({ index, field, reason }))
  return { door, reason, errors: named, id }
}

function refusedOf(steps: readonly Step[], { kind }: Door) {
  return steps.flatMap(({ answer, options }) =>
    'refused' in answer
      ? [{ door: kind, reason: answer.refused, errors: answer.errors, id: options?.id }]
      : [],
  )
}
