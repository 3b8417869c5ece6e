import { readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createThingId, createToken } from '../../src/core/token.ts'
import type { Reason } from '../../src/errors.ts'
import { createThing } from '../helpers/http-client.ts'
import {
  type Differences,
  type DocumentedOperation,
  type OpenApi,
  operationsOf,
  problemOf,
  request,
  type Scene,
  setScene,
} from './documented-request.ts'
import { type DocumentedServer, openDocumentedServer } from './documented-server.ts'
import { type Matcher, matcherOf } from './matcher.ts'

/** A request that is refused for a reason that its operation documents. */
interface RefusalRow {
  readonly operation: DocumentedOperation
  readonly reason: string
  readonly request: Request
}

type Request = (scene: Scene, server: DocumentedServer) => Differences | Promise<Differences>

/** Reasons, of all operations or of one, that take more than one request or another store: where they are tested. */
const testedIn: ReadonlyMap<string, string> = new Map([
  ['bad_request', 'test/http/host-options.test.ts'],
  ['head_too_large', 'test/http/host-options.test.ts'],
  ['request_timeout', 'test/server/http/timeouts.test.ts'],
  ['internal_error', 'test/http/plugin.test.ts'],
  ['too_many_connections', 'test/server/connections/connection-limit.test.ts'],
  ['too_many_failed_credentials', 'test/http/failed-credentials.test.ts'],
  ['store_timeout', 'test/store/open-store.test.ts'],
  ['store_unavailable', 'test/http/routes/health.test.ts'],
  ['store_full', 'test/store/level/database/disk-space.test.ts'],
  ['draining', 'test/http/routes/health.test.ts'],
  ['write_rate_exceeded', 'test/doors/write-limits.test.ts'],
  ['record_rate_exceeded', 'test/doors/write-limits.test.ts'],
  ['too_many_waiting', 'test/core/ingest-limits.test.ts'],
  ['too_many_resources', 'test/doors/write-limits.test.ts'],
  ['too_many_streams', 'test/http/routes/stream-limit.test.ts'],
  ['too_many_sources', 'test/access/sources/source-registry.test.ts'],
  ['too_many_sessions', 'test/http/routes/thing-sessions.test.ts'],
  ['backUp not_found', 'test/http/routes/admin.test.ts'],
])

const tooLarge = 'x'.repeat(1024 * 1024 + 1)
const unknownId = createThingId

/** What refuses a request for this reason, whatever its operation; undefined: it depends. */
const general: Partial<Record<Reason, Request>> = {
  invalid_session: () => ({ credential: createToken() }),
  missing_credential: () => ({ credential: null }),
  invalid_utf8: () => ({ body: Uint8Array.of(0x7b, 0xff, 0x7d) }),
  invalid_json: () => ({ body: '{' }),
  invalid_body: () => ({ body: '[]' }),
  invalid_content_encoding: () => ({ body: 'no gzip', headers: { 'content-encoding': 'gzip' } }),
  body_too_large: () => ({ body: tooLarge }),
  unsupported_media_type: () => ({ body: '{}', headers: { 'content-type': 'application/msgpack' } }),
  unsupported_encoding: () => ({ body: '{}', headers: { 'content-encoding': 'br' } }),
  invalid_limit: () => ({ query: { limit: '0' } }),
  invalid_cursor: () => ({ query: { cursor: 'no cursor' } }),
  invalid_range: () => ({ query: { startDate: 'yesterday' } }),
  invalid_aggregate: () => ({ query: { aggregate: 'mode', interval: '1h' } }),
  invalid_interval: () => ({ query: { aggregate: 'avg', interval: '1 h' } }),
  invalid_points: () => ({ query: { points: '0' } }),
  invalid_time_zone: () => ({ query: { points: '800', tz: 'Mars/Olympus' } }),
  unknown_resource: () => ({ path: { key: 'never-written' } }),
  missing_thing_token: () => ({ query: { thingToken: '' } }),
  unknown_activation_code: () => ({ body: JSON.stringify({ activationCode: 'x'.repeat(34) }) }),
}

/** What refuses a write for its content. */
const badRecords: Partial<Record<Reason, unknown>> = {
  forbidden_member: { key: 'a', value: { constructor: 1 } },
  invalid_record: 1,
  invalid_key: { key: 'no spaces', value: 1 },
  unknown_magic_resource: { key: '$battery', value: 1 },
  invalid_value: { key: 'a', value: null },
  value_too_large: { key: 'a', value: 'x'.repeat(64 * 1024) },
  value_too_deep: { key: 'a', value: JSON.parse('['.repeat(33) + ']'.repeat(33)) },
  invalid_geo: { key: 'a', value: 1, geo: { lat: 91, long: 0 } },
  invalid_datetime: { key: 'a', value: 1, datetime: '20250230000000' },
  datetime_out_of_range: { key: 'a', value: 1, datetime: '19691231235959' },
  invalid_position: { key: '$geo', value: [181, 0] },
  invalid_settings: { key: '$settings', value: 1 },
  invalid_meta: { key: '$meta', value: 1 },
  invalid_settings_path: { key: '$settings.a..b', value: 1 },
}
const badWrites: Partial<Record<Reason, unknown>> = {
  invalid_values: { values: [] },
  too_many_records: { values: Array.from({ length: 10_001 }, () => ({ key: 'a', value: 1 })) },
  invalid_flag: { values: [{ key: 'a', value: 1 }], store: 1 },
  invalid_write_id: { values: [{ key: 'a', value: 1 }], id: '' },
}
/** What refuses a write in the format `json`. */
const badReadings: Partial<Record<Reason, unknown>> = {
  too_many_records: Object.fromEntries(Array.from({ length: 10_001 }, (_, place) => [`m${place}`, place])),
  forbidden_member: { a: [badRecords.forbidden_member] },
  value_too_large: { a: 'x'.repeat(64 * 1024) },
  value_too_deep: { a: JSON.parse('['.repeat(33) + ']'.repeat(33)) },
  invalid_datetime: { a: 1, datetime: 'yesterday' },
  datetime_out_of_range: { a: 1, datetime: '19691231235959' },
}

const forbidden: Request = async (_, server) => ({ credential: (await createThing(server)).thingToken })

const noSource: Partial<Record<Reason, Request>> = { not_found: () => ({ path: { sourceId: 'none' } }) }
const sourceOn = (topic: string) => JSON.stringify({ name: 'house', topics: [topic] })

/** What depends on the operation. */
const particular: Readonly<Record<string, Partial<Record<Reason, Request>>>> = {
  writeRecords: {
    ...mapValues(badWrites, body => () => ({ body: JSON.stringify(body) })),
    ...mapValues(badRecords, record => () => ({ body: JSON.stringify({ values: [record] }) })),
    number_out_of_range: () => ({ body: '{"values":[{"key":"a","value":1e999}]}' }),
    invalid_query: () => ({ query: { store: 'maybe' } }),
    invalid_content_encoding: () => ({
      body: new Uint8Array(gzipSync('{}')).subarray(0, 8),
      headers: { 'content-encoding': 'gzip' },
    }),
  },
  writeInFormat: {
    unknown_format: () => ({ path: { format: 'senml' } }),
    invalid_key: () => ({ path: { format: 'value' } }),
    invalid_lines: () => ({ path: { format: 'influx' }, body: 'no line' }),
    invalid_body: () => ({ body: '21.5' }),
    ...mapValues(badReadings, body => () => ({ body: JSON.stringify(body) })),
    number_out_of_range: () => ({ body: '{"a":1e999}' }),
    invalid_write_id: () => ({ headers: { 'idempotency-key': 'x'.repeat(65) } }),
    invalid_query: () => ({ query: { store: 'maybe' } }),
  },
  readAggregates: {
    invalid_query: () => ({ query: { order: 'random' } }),
    invalid_keys: () => ({ query: { keys: '' } }),
    unknown_resource: () => ({ query: { keys: 'never-written' } }),
  },
  readResource: { invalid_query: () => ({ query: { order: 'random' } }) },
  streamWrites: { invalid_query: () => ({ query: { keepAlive: '-1' } }) },
  readServerTime: {
    invalid_query: () => ({ query: { format: 'ISO' } }),
    unknown_thing_token: () => ({ query: { thingToken: createToken() } }),
  },
  listThings: { invalid_query: () => ({ query: { bbox: '1,2,3' } }) },
  listVisibleThings: { invalid_query: () => ({ query: { bbox: '1,2,3' } }) },
  createSession: {
    unknown_thing: () => ({ body: JSON.stringify({ things: [unknownId()], access: 'read' }) }),
  },
  addToken: {
    too_many_tokens: async ({ thingId }, { url, adminKey }) => {
      const path = `${url}/v2/admin/things/${thingId}/tokens`
      const headers = { authorization: adminKey }
      // It has two already.
      for (let added = 2; added < 10; added++) await fetch(path, { method: 'POST', headers })
      return {}
    },
  },
  endToken: { not_found: () => ({ path: { tokenId: 'none' } }) },
  removeActivationCode: { not_found: () => ({ path: { code: 'none' } }) },
  readSession: { not_found: () => ({ path: { sessionId: 'none' } }) },
  endSession: { not_found: () => ({ path: { sessionId: 'none' } }) },
  changeThing: {
    not_found: () => ({ body: JSON.stringify({ source: { sourceId: unknownId(), device: 'plug' } }) }),
  },
  createSource: { topics_overlap: ({ thingId }) => ({ body: sourceOn(`scene/${thingId}/a`) }) },
  readSource: noSource,
  changeSource: {
    ...noSource,
    topics_overlap: async (_, server) => {
      const topic = `other/${unknownId()}`
      const headers = { authorization: server.adminKey }
      await fetch(`${server.url}/v2/admin/sources`, { method: 'POST', headers, body: sourceOn(topic) })
      return { body: sourceOn(topic) }
    },
  },
  renewSourceToken: noSource,
  removeSource: noSource,
  listUnread: noSource,
  refuseBase: { invalid_session: () => ({}) },
  postToSource: {
    invalid_session: () => ({ path: { source: createToken() } }),
    missing_credential: ({ path }) => ({ path: { source: path.sourceId ?? '' }, credential: null }),
    forbidden: ({ path }) => ({ path: { source: path.sourceId ?? '' } }),
    not_found: () => ({ path: { source: 'neither-token-nor-id' } }),
  },
  readMetrics: {
    // Whoever asks through a proxy is not this machine.
    invalid_session: () => ({ credential: createToken(), headers: { via: '1.1 proxy' } }),
    missing_credential: () => ({ credential: null, headers: { via: '1.1 proxy' } }),
    forbidden: async (scene, server) => ({
      ...(await forbidden(scene, server)),
      headers: { via: '1.1 proxy' },
    }),
  },
}

/** Where the path says which thing. */
const ofThing: Partial<Record<Reason, Request>> = {
  unknown_thing_token: () => ({ path: { ref: createToken() } }),
  not_found: () => ({ path: { ref: 'neither-token-nor-id' } }),
  unknown_thing: () => ({ path: { ref: unknownId(), thingId: unknownId() } }),
}

let server: DocumentedServer
let document: OpenApi
let matcher: Matcher
beforeAll(async () => {
  server = await openDocumentedServer()
  document = (await (await fetch(`${server.url}/docs/json`)).json()) as OpenApi
  matcher = matcherOf(document.components.schemas)
})
afterAll(() => server.close())

describe('/docs/json', () => {
  it('names every error that a request is refused with', async () => {
    // What is refused leaves it as it is.
    const scene = await setScene(server)
    const tries = refusalRows(operationsOf(document)).map(
      async ({ operation, reason, request: differing }) => {
        const received = await request(server, operation, scene, await differing(scene, server))
        const isRefused = received.text.includes(`"reason":"${reason}"`)
        const problem = isRefused ? problemOf(matcher, operation, received) : received.text.slice(0, 200)
        return problem ? [`${operation.operationId} ${reason}: ${problem}`] : []
      },
    )
    expect((await Promise.all(tries)).flat()).toEqual([])
  })

  it('names no error that does not happen', async () => {
    const happen = refusalRows(operationsOf(document)).map(
      ({ operation, reason }) => `${operation.operationId} ${reason}`,
    )
    const named = operationsOf(document).flatMap(operation =>
      refusalsOf(operation)
        .filter(([, reason]) => !testedIn.has(reason))
        .map(([, reason]) => `${operation.operationId} ${reason}`),
    )
    expect(named.filter(name => !happen.includes(name) && !testedIn.has(name))).toEqual([])
    for (const [name, file] of testedIn) {
      const [reason] = name.split(' ').slice(-1)
      expect([name, (await readFile(file, 'utf8')).includes(`'${reason}'`)]).toEqual([name, true])
    }
  })
})

/** A request for every reason of every operation that one request can be refused for. */
function refusalRows(operations: readonly DocumentedOperation[]): readonly RefusalRow[] {
  return operations.flatMap(operation => {
    const { operationId, path } = operation
    const isOfThing = /\{(ref|thingId)\}/.test(path)
    const requests = { ...general, forbidden, ...(isOfThing && ofThing), ...particular[operationId] }
    return refusalsOf(operation).flatMap(([, reason]) => {
      const request = requests[reason as Reason]
      return request ? [{ operation, reason, request }] : []
    })
  })
}

function mapValues<Value, Result>(
  record: Readonly<Record<string, Value>>,
  map: (value: Value) => Result,
): Record<string, Result> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]))
}

/** The reasons that it says it can be refused with, by status. */
function refusalsOf({ responses }: DocumentedOperation): readonly (readonly [number, string])[] {
  return Object.entries(responses).flatMap(([status, { content }]) => {
    const { allOf = [] } = (content['application/json']?.schema ?? {}) as { allOf?: readonly Refused[] }
    return allOf.flatMap(({ properties }) =>
      (properties?.reason?.enum ?? []).map(reason => [Number(status), reason] as const),
    )
  })
}

interface Refused {
  readonly properties?: { readonly reason?: { readonly enum?: readonly string[] } }
}
