import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createThingId, createToken } from '../../src/core/token.ts'
import chirpstackSamples from '../formats/samples/chirpstack.json' with { type: 'json' }
import owntracksSamples from '../formats/samples/owntracks.json' with { type: 'json' }
import ttnSamples from '../formats/samples/ttn.json' with { type: 'json' }
import { write } from '../helpers/http-client.ts'
import { DoorService, eventually } from '../mqtt/door-service.ts'
import { basic, PostedSource } from './posting.ts'

const created = '{"status":"created","message":"created"}'

interface Sample {
  readonly name: string
  readonly messages: readonly {
    readonly topic?: string
    readonly post?: { readonly query?: object; readonly headers?: object }
    readonly payload: unknown
  }[]
  readonly expect: Readonly<
    Record<
      string,
      { readonly records: readonly { key: string; value: unknown; datetime?: string; geo?: Geo }[] }
    >
  >
  readonly unread?: readonly { device?: string; place: string; reason: string }[]
}

type Geo = { readonly lat: number; readonly long: number }

/** What the sender of a message on a topic puts into the query of its webhook. */
const queries: Readonly<Record<string, (levels: readonly string[]) => Record<string, string>>> = {
  ttn: () => ({}),
  chirpstack: levels => ({ event: levels.at(-1) ?? '' }),
  owntracks: ([, u = '', d = '']) => ({ u, d }),
}

const samples = [
  ...(ttnSamples as readonly Sample[]).map(sample => ['ttn', sample.name, sample] as const),
  ...(chirpstackSamples as readonly Sample[]).map(sample => ['chirpstack', sample.name, sample] as const),
  ...(owntracksSamples as readonly Sample[]).map(sample => ['owntracks', sample.name, sample] as const),
]

const uplink = (device: string, decoded_payload: object, id = '') => ({
  end_device_ids: { device_id: device },
  ...(id !== '' && { correlation_ids: [`as:up:${id}`] }),
  uplink_message: { decoded_payload },
})

describe('a webhook', () => {
  let service: DoorService
  beforeAll(async () => {
    const ends: (() => Promise<void>)[] = []
    service = await DoorService.start({ onEnd: close => ends.push(close) })
    return async () => {
      for (const end of ends.reverse()) await end()
    }
  })

  it.each(samples)('of %s: %s', async (format, _, sample) => {
    const source = await PostedSource.open([format], service)
    for (const { topic = '', post, payload } of sample.messages) {
      // The app empties a topic. A webhook posts no empty body.
      if (payload === '') continue
      const query = { ...(post ? {} : queries[format]?.(topic.split('/'))), ...post?.query }
      const path = `/v2/sources/${source.token}?${new URLSearchParams(query)}`
      const body = typeof payload === 'string' ? payload : JSON.stringify(payload)
      const answer = await source.post({ path, body, headers: { ...post?.headers } })
      expect(answer).toMatchObject({ status: 201, text: format === 'owntracks' ? '[]' : created })
    }
    const stored = await source.records()
    for (const [device, { records }] of Object.entries(sample.expect)) {
      for (const { key, value, datetime, geo } of records) {
        const point = geo && { type: 'Point', coordinates: [geo.long, geo.lat] }
        const wanted = { value: point ?? value, ...(datetime !== undefined && { datetime }) }
        expect(stored[device]?.[key]).toContainEqual(expect.objectContaining(wanted))
      }
      const keys = Object.keys(stored[device] ?? {}).filter(key => key !== '$meta')
      expect(keys.sort()).toEqual([...new Set(records.map(({ key }) => key))].sort())
    }
    const unread = sample.unread ?? []
    await eventually(() => source.listed()).toHaveLength(unread.length)
    for (const { device, place, reason } of unread)
      expect((await source.listed()).join()).toContain([device, place, reason].filter(Boolean).join(': '))
  })

  it('is stored once though it is sent again, also at the same moment', async () => {
    const source = await PostedSource.open(['ttn'], service)
    const request = {
      path: `/v2/sources/${source.token}`,
      body: JSON.stringify(uplink('a', { level: 1 }, '01E0WZ')),
    }
    const answers = await Promise.all([1, 2, 3].map(() => source.post(request)))
    answers.push(await source.post(request))
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201])
    expect(await source.values('a')).toEqual({ level: [1] })
  })

  it('describes its devices', async () => {
    const source = await PostedSource.open(['chirpstack'], service)
    const status = { deviceInfo: { devEui: '0101010101010101', deviceName: 'Cellar' }, batteryLevel: 50 }
    await source.post({ path: `/v2/sources/${source.token}?event=status`, body: JSON.stringify(status) })
    const [thing] = await service.things.registry.named('Cellar')
    const meta = () => service.things.records.state(thing?.thingId ?? '', '$meta')
    await eventually(async () => (await meta())?.value).toContain('"batteryLevel":{"unit":"%"')
  })

  it.each<[name: string, request: (source: PostedSource) => [ref: string, authorization?: string]]>([
    ['the token in the path', ({ token }) => [token]],
    ['the token in the path, whatever the header has', ({ token }) => [token, 'Bearer other']],
    ['Bearer', ({ sourceId, token }) => [sourceId, `Bearer ${token}`]],
    ['a bare token', ({ sourceId, token }) => [sourceId, token]],
    ['Basic with the token as password', ({ sourceId, token }) => [sourceId, basic('ttn', token)]],
    ['Basic with the token as user', ({ sourceId, token }) => [sourceId, basic(token, '')]],
  ])('is taken with %s', async (_, request) => {
    const source = await PostedSource.open(['ttn'], service)
    const [ref, authorization] = request(source)
    const answer = await source.post({
      path: `/v2/sources/${ref}`,
      headers: { ...(authorization !== undefined && { authorization }) },
      body: JSON.stringify(uplink('a', { level: 1 })),
    })
    expect(answer.status).toBe(201)
  })

  it.each<
    [
      reason: string,
      request: (source: PostedSource, other: Others) => [ref: string, authorization?: string],
      status: number,
    ]
  >([
    ['missing_credential', ({ sourceId }) => [sourceId], 401],
    ['invalid_session', () => [createToken()], 401],
    ['invalid_session', ({ sourceId }) => [sourceId, basic('ttn', createToken())], 401],
    ['invalid_session', ({ sourceId }) => [sourceId, basic('ttn', '')], 401],
    ['forbidden', (_, { thingToken }) => [thingToken], 403],
    ['forbidden', ({ sourceId }, { thingToken }) => [sourceId, thingToken], 403],
    ['forbidden', ({ sourceId }, { sessionToken }) => [sourceId, `Bearer ${sessionToken}`], 403],
    ['forbidden', ({ sourceId }, { adminKey }) => [sourceId, adminKey], 403],
    ['forbidden', ({ sourceId }, { token }) => [sourceId, token], 403],
    ['forbidden', ({ token }) => [createThingId(), token], 403],
    ['not_found', ({ token }) => ['neither-token-nor-id', token], 404],
  ])('is refused as %s without the credential of the source', async (reason, request, status) => {
    const source = await PostedSource.open(['ttn'], service)
    const { token } = await PostedSource.open(['ttn'], service)
    const { thingToken } = await service.createThing()
    const { sessionToken } = await service.things.sessions.create('*', { access: 'write' })
    const [ref, authorization] = request(source, { token, thingToken, sessionToken, ...service })
    const body = JSON.stringify(uplink('a', { level: 1 }))
    const headers = { ...(authorization !== undefined && { authorization }) }
    const answer = await source.post({ path: `/v2/sources/${ref}`, headers, body })
    expect(JSON.parse(answer.text)).toMatchObject({ code: status, reason })
    expect(await source.records()).toEqual({})
    expect(await source.listed()).toEqual([])
  })

  it('is refused where things write, with a hint', async () => {
    const source = await PostedSource.open(['ttn'], service)
    const thing = { thingId: source.sourceId, thingToken: source.token }
    const answer = await write(service, thing, { values: [{ key: 'a', value: 1 }] })
    expect(answer.status).toBe(401)
    expect(await answer.json()).toMatchObject({ message: expect.stringContaining('/v2/sources/<token>') })
    const authorization = `Bearer ${source.token}`
    const { thingId } = await service.createThing()
    for (const path of [`/v2/things/${thingId}/resources`, '/v2/admin/things']) {
      const response = await fetch(service.url + path, { headers: { authorization } })
      expect(response.status).toBe(403)
    }
  })

  it.each<[reason: string, status: number, body: string | Uint8Array<ArrayBuffer>, headers?: object]>([
    ['invalid_json', 400, '{"end_device_ids":'],
    ['invalid_json', 400, ''],
    ['invalid_utf8', 400, Uint8Array.of(0x7b, 0xff, 0x7d)],
    ['invalid_body', 400, '{"temperature":21.5}'],
    ['invalid_body', 400, 'null'],
    ['invalid_body', 400, '"temperature value=1"'],
    ['invalid_content_encoding', 400, '{}', { 'content-encoding': 'gzip' }],
    ['unsupported_encoding', 415, '{}', { 'content-encoding': 'br' }],
    ['unsupported_media_type', 415, '{}', { 'content-type': 'application/msgpack' }],
    ['body_too_large', 413, 'x'.repeat(1024 * 1024 + 1)],
  ])('is refused as %s (%i), and on the list', async (reason, code, body, headers = {}) => {
    const source = await PostedSource.open(['ttn', 'chirpstack'], service)
    const path = `/v2/sources/${source.token}`
    const answer = await source.post({ path, body, headers: { ...headers } })
    const { message, ...rest } = JSON.parse(answer.text) as { message: string }
    expect(rest).toMatchObject({ status: 'error', code, reason })
    await eventually(() => source.listed()).toEqual([`${reason}: ${message}`])
  })

  it('names the formats of the source if the body is of none', async () => {
    const source = await PostedSource.open(['ttn', 'chirpstack'], service)
    const { text } = await source.post({ path: `/v2/sources/${source.token}`, body: '{}' })
    expect(JSON.parse(text)).toMatchObject({
      message:
        'the body must be of a format of the source that webhooks post (ttn, chirpstack), but it is of none',
    })
  })

  it('is read by the format that it is of, compressed or not', async () => {
    const source = await PostedSource.open(['owntracks', 'ttn'], service)
    const path = `/v2/sources/${source.token}`
    const body = new Uint8Array(gzipSync(JSON.stringify(uplink('a', { level: 1 }))))
    const answer = await source.post({ path, body, headers: { 'content-encoding': 'gzip' } })
    expect(answer).toMatchObject({ status: 201, text: created })
    expect(await source.values('a')).toEqual({ level: [1] })
  })

  it('of a device whose name is no Unicode gets it a thing', async () => {
    const source = await PostedSource.open(['ttn'], service)
    const body = '{"end_device_ids":{"device_id":"\\ud800"},"uplink_message":{"decoded_payload":{"level":1}}}'
    expect(await source.post({ path: `/v2/sources/${source.token}`, body })).toMatchObject({ status: 201 })
    expect(Object.values(await source.records())).toHaveLength(1)
  })

  it('waits for its turn beyond the rate of its source, which leaves those of others alone', async () => {
    const limited = await DoorService.start({ limits: { writesPerSecond: 1 }, onEnd: onTestFinished })
    const [source, other] = [
      await PostedSource.open(['ttn'], limited),
      await PostedSource.open(['ttn'], limited),
    ]
    const send = (to: PostedSource, device: string) =>
      to.post({ path: `/v2/sources/${to.token}`, body: JSON.stringify(uplink(device, { level: 1 })) })
    const answers = []
    for (let device = 0; device < 20; device++) answers.push(await send(source, `d${device}`))
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThan(5)
    for (const { text, headers } of refused) {
      expect(JSON.parse(text)).toMatchObject({ reason: 'write_rate_exceeded' })
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    }
    expect(await send(other, 'd')).toMatchObject({ status: 201 })
  })
})

interface Others {
  readonly token: string
  readonly thingToken: string
  readonly sessionToken: string
  readonly adminKey: string
}
