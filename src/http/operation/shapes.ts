import { z } from 'zod'
import { maximumRecords, writeIdForm } from '../../core/parse.ts'
import { datetimeForms } from '../../core/record/datetime.ts'
import { decimal } from '../../core/record/geo.ts'
import { ordinaryKey } from '../../core/record/key.ts'
import { thingIdForm, tokenForm } from '../../core/token.ts'
import { catalogue } from '../../errors.ts'

/** Shapes of the data on the wire. The core checks writes without these shapes, and a test compares the shapes with the core. */

interface ShapeNote {
  /** The name of the schema in the API documents. */
  readonly id?: string
  readonly description?: string
  [key: string]: unknown
}

export const shapes = z.registry<ShapeNote>()

function named<Shape extends z.ZodType>(id: string, description: string, shape: Shape): Shape {
  shapes.add(shape, { id, description })
  return shape
}

function noted<Shape extends z.ZodType>(description: string, shape: Shape): Shape {
  shapes.add(shape, { description })
  return shape
}

export const thingId = noted('Thing id: public.', z.string().regex(thingIdForm))
export const thingToken = noted('Thing token: a secret.', z.string().regex(tokenForm))
export const datetime = noted(
  'UTC, always in this form.',
  z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
)
export const sentDatetime = noted(
  'YYYYMMDDHHmmss (UTC), YYYYMMDDTHHmmss, YYYYMMDDHHmmssSSS, or RFC 3339 with optional seconds, fraction and zone. ' +
    'From 1970 to 24 hours ahead of the server.',
  z.string().regex(new RegExp(datetimeForms.map(({ source }) => source).join('|'))),
)

export const geo = named(
  'Geo',
  'A position in degrees, WGS 84.',
  z.object({ lat: z.number().min(-90).max(90), long: z.number().min(-180).max(180) }),
)

const anObject = z.record(z.string(), z.unknown())
const ordinaryValue = z.union([z.string(), z.number(), z.boolean(), anObject, z.array(z.unknown())])

const sentDegrees = (limit: number) => z.union([z.number().min(-limit).max(limit), z.string().regex(decimal)])
const sentGeo = named(
  'SentGeo',
  'A position in degrees; a number may be sent as a string.',
  z.object({ lat: sentDegrees(90), long: sentDegrees(180) }),
)

const measuredAt = {
  datetime: noted('Default: the time at which the server received the write.', sentDatetime.nullish()),
}
const anyKey = z.string().regex(ordinaryKey)
const record = named(
  'SentRecord',
  'One point of an ordinary resource. At most 64 KiB of value as JSON, at most 32 levels deep.',
  z.object({ key: anyKey, value: ordinaryValue, geo: sentGeo.nullish(), ...measuredAt }),
)
const barePosition = named(
  'SentPosition',
  'A position of an ordinary resource, without a value.',
  z.object({ key: anyKey, value: z.null(), geo: sentGeo, ...measuredAt }),
)
const thingPosition = named(
  'SentThingPosition',
  'The position of the thing: a GeoJSON Point, `[long,lat]`, or null with `geo`.',
  z.union([
    z.object({
      key: z.literal('$geo'),
      value: z.union([
        z.object({ type: z.literal('Point'), coordinates: z.array(z.unknown()).min(2) }),
        z.array(z.unknown()).min(2),
      ]),
      geo: sentGeo.nullish(),
      ...measuredAt,
    }),
    z.object({ key: z.literal('$geo'), value: z.null(), geo: sentGeo, ...measuredAt }),
  ]),
)
const settings = named(
  'SentSettings',
  'A JSON Merge Patch (RFC 7396) of the settings document; null removes.',
  z.object({ key: z.literal('$settings'), value: anObject, geo: sentGeo.nullish(), ...measuredAt }),
)
const setting = named(
  'SentSetting',
  'One place of the settings document, by its path; null removes.',
  z.object({
    key: z.string().regex(/^\$settings(\.[A-Za-z0-9_-]{1,64}){1,16}$/),
    value: z.union([ordinaryValue, z.null()]),
    geo: sentGeo.nullish(),
    ...measuredAt,
  }),
)
const description = named(
  'SentDescription',
  'What a resource is. Null removes a member.',
  z.strictObject({
    name: z.string().min(1).max(100).nullish(),
    unit: z.string().min(1).max(32).nullish(),
    kind: noted('A device class of Home Assistant, or any other word.', z.string().min(1).max(64).nullish()),
    total: noted('Whether the value is a counter that only grows.', z.boolean().nullish()),
    decimals: noted('How many decimals people see.', z.int().min(0).max(10).nullish()),
    hidden: noted('Whether people see the resource only where they ask for it.', z.boolean().nullish()),
    discovered: noted(
      'Names of members that a discovery sets: it does not change what a person has set. One that is absent was removed by a person.',
      z.array(z.enum(['name', 'unit', 'kind', 'total', 'decimals', 'hidden'])).nullish(),
    ),
  }),
)
const meta = named(
  'SentMeta',
  'A JSON Merge Patch (RFC 7396) of the descriptions of resources, by key; null removes a description.',
  z.object({
    key: z.literal('$meta'),
    value: z.record(anyKey, description.nullable()),
    geo: sentGeo.nullish(),
    ...measuredAt,
  }),
)

export const write = named(
  'Write',
  'A write: stored as a whole or refused as a whole, unless `partial`. Other members are ignored.',
  z.object({
    values: z
      .array(z.union([record, barePosition, thingPosition, settings, setting, meta]))
      .min(1)
      .max(maximumRecords),
    store: noted('false: send the live message only, and store nothing.', z.boolean().optional()),
    broadcast: noted('false: send no live message.', z.boolean().optional()),
    partial: noted('true: store the good records if others are refused.', z.boolean().optional()),
    id: noted(
      'Write id, chosen by the client. A second write with the same id has no effect, and gets the same answer.',
      z.string().regex(writeIdForm).optional(),
    ),
  }),
)

const givenValue = z.union([ordinaryValue, z.null()])
export const givenRecord = named(
  'Record',
  'A record in an answer, in a live message or in a retained message.',
  z.object({ key: z.string(), value: givenValue, datetime, geo: geo.optional() }),
)
export const writtenRecords = named(
  'WrittenRecords',
  'The records of one write as they were sent. `datetime` is in the form of the sender, and only there if it was sent.',
  z.array(
    z.object({ key: z.string(), geo: geo.optional(), datetime: sentDatetime.optional(), value: givenValue }),
  ),
)

const reason = named(
  'Reason',
  'A stable code. Match on it.',
  z.enum(Object.keys(catalogue) as [keyof typeof catalogue]),
)
export const fieldError = named(
  'FieldError',
  'A refused record of a write.',
  z.object({
    index: noted('Its place in `values`, from 0.', z.int().min(0)),
    field: noted('Path inside the record; empty if the record is not an object.', z.string()),
    reason,
    message: z.string(),
  }),
)
export const error = named(
  'Error',
  'The answer of every error. Match on `reason`; `message` is for people.',
  z.object({
    status: z.literal('error'),
    code: noted('The HTTP status.', z.int()),
    reason,
    message: z.string(),
    errors: noted('The refused records of a write, at most 20.', z.array(fieldError).optional()),
  }),
)
/** The answer to a write that is stored. */
export const created = z.object({
  status: z.literal('created'),
  message: z.literal('created'),
  rejected: z.array(fieldError).optional(),
})
export const refusedWrite = named(
  'RefusedWrite',
  'A refused write, or why a connection was turned away.',
  z.object({
    datetime,
    door: noted(
      'Protocol of the write; `host`: a write of the program in which the service runs; `magic`: refused after the ack.',
      z.enum(['http', 'mqtt', 'host', 'magic']),
    ),
    reason,
    message: z.string(),
    count: noted(
      'For connections that were turned away: how many since the previous entry, if more than one.',
      z.int().optional(),
    ),
    errors: z.array(fieldError).optional(),
    id: noted('Write id.', z.string().optional()),
    excerpt: noted('First 200 characters of the write, without secrets; empty if there is none.', z.string()),
  }),
)
export const refusedWriteExample = {
  datetime: '2026-11-21T09:30:00.000Z',
  door: 'mqtt',
  reason: 'invalid_json',
  message: 'the body must be JSON',
  excerpt: '{"values":[{"key":"temperature","value":NaN}]}',
}

export const serverTime = named(
  'ServerTime',
  'The time of the server; whole seconds as a number with `format=unix_timestamp`.',
  z.tuple([z.object({ key: z.literal('date'), value: z.union([datetime, z.int()]) })]),
)
export const limits = named(
  'Limits',
  'What the server takes.',
  z.object({
    maxPacketSize: z
      .int()
      .describe(
        'Bytes of the largest MQTT packet, without its fixed header. A larger one closes the connection.',
      ),
    meta: z.literal(true).describe('The server takes `$meta`. Older servers do not send this member.'),
  }),
)
export const activation = named(
  'Activation',
  'A thing has registered itself.',
  z.object({ status: z.literal('created'), message: z.string(), thingToken, thingId }),
)
export const activationExample = {
  status: 'created',
  message: 'thing activated',
  thingToken: 'c29tZXRoaW5nLXRoYXQtaXMtbm8tcmVhbC10b2tlbi4',
  thingId: 'mzxw6ytboi4dcmjs',
}
export const success = z.object({ status: z.literal('success') })
