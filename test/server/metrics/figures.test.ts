import { describe, expect, it } from 'vitest'
import { createThing, write } from '../../helpers/http-client.ts'
import { connectMqtt, isOf, openMqtt } from '../../helpers/mqtt-client.ts'
import { eventually, reading, writeTopicOf } from '../../mqtt/door-service.ts'
import { samplesIn, startWatched } from './watched-server.ts'

describe('the metrics of a server', () => {
  it('count writes, records and acknowledgements by door and outcome', async () => {
    const server = await startWatched()
    const thing = await createThing(server)
    const device = await connectMqtt({ ...server.mqtt, username: thing.thingToken })
    const topic = writeTopicOf(thing.thingToken)
    const values = [1, 2, 3].map(value => ({ key: 'n', value }))
    await device.publish(topic, { values, id: 'once' })
    await device.publish(topic, { values, id: 'once' }, { qos: 2 })
    await device.publish(topic, { ...reading(1), store: false })
    await write(server, thing, reading(1))
    await write(server, thing, { ...reading(1), store: false, broadcast: false })
    await write(server, thing, { values: [...values, { key: 'no key' }], partial: true })

    const samples = samplesIn(await server.scrape())
    const of = (what: string, door: string, outcome: string) =>
      samples.get(`thingwire_${what}_total{door="${door}",outcome="${outcome}"}`)
    expect([of('writes', 'mqtt', 'stored'), of('records', 'mqtt', 'stored')]).toEqual([1, 3])
    expect([of('writes', 'mqtt', 'repeated'), of('records', 'mqtt', 'repeated')]).toEqual([1, 3])
    expect([of('writes', 'mqtt', 'unstored'), of('records', 'mqtt', 'unstored')]).toEqual([1, 1])
    expect([of('writes', 'http', 'stored'), of('records', 'http', 'stored')]).toEqual([2, 4])
    expect([of('writes', 'http', 'dry_run'), of('records', 'http', 'dry_run')]).toEqual([1, 1])
    expect(samples.get('thingwire_records_stored_total')).toBe(7)
    expect(samples.get('thingwire_ack_duration_seconds_count{door="mqtt"}')).toBe(3)
    await eventually(() => server.sample('thingwire_ack_duration_seconds_count{door="http"}')).toBe(3)
    expect(samples.get('thingwire_commit_writes_count')).toBeGreaterThan(0)
    expect(samples.get('thingwire_commit_duration_seconds_count')).toBe(
      samples.get('thingwire_commit_writes_count'),
    )
  })

  it('do not count a record again that was sent again', async () => {
    const server = await startWatched()
    const thing = await createThing(server)
    const again = { values: [{ key: 'n', value: 1, datetime: '20261121093000' }] }
    for (let sent = 0; sent < 2; sent++) await write(server, thing, again)
    expect(await server.sample('thingwire_writes_total{door="http",outcome="stored"}')).toBe(2)
    expect(await server.sample('thingwire_records_stored_total')).toBe(1)
  })

  it('count what was refused by door and reason', async () => {
    const server = await startWatched({ writesPerSecond: 1 })
    const thing = await createThing(server)
    const device = await connectMqtt({ ...server.mqtt, username: thing.thingToken })
    await device.publish(writeTopicOf(thing.thingToken), 'no JSON')
    await device.publish(`things/${thing.thingId}/none`, 'x')
    await write(server, thing, { values: [] })
    await fetch(`${server.url}/v2/none`)
    const flood = Array.from({ length: 20 }, () => write(server, thing, reading(1)))
    const refused = (await Promise.all(flood)).filter(({ status }) => status === 429).length

    const samples = samplesIn(await server.scrape())
    const refusals = (door: string, reason: string) =>
      samples.get(`thingwire_write_refusals_total{door="${door}",reason="${reason}"}`)
    expect(refusals('mqtt', 'invalid_json')).toBe(1)
    expect(refusals('mqtt', 'not_a_write_topic')).toBe(1)
    expect(refusals('http', 'invalid_values')).toBe(1)
    expect(refused).toBeGreaterThan(0)
    expect(refusals('http', 'write_rate_exceeded')).toBe(refused)
    const errors = (reason: string) => () => server.sample(`thingwire_http_errors_total{reason="${reason}"}`)
    await eventually(errors('write_rate_exceeded')).toBe(refused)
    await eventually(errors('not_found')).toBe(1)
  })

  it('count the will of a client that is gone as a door of its own', async () => {
    const server = await startWatched()
    const thing = await createThing(server)
    const topic = writeTopicOf(thing.thingToken)
    const will = { topic, payload: JSON.stringify(reading(1)), qos: 1 } as const
    const device = await connectMqtt({ ...server.mqtt, username: thing.thingToken, will })
    await device.destroy()
    const written = () => server.sample('thingwire_writes_total{door="will",outcome="stored"}')
    await eventually(written).toBe(1)
    expect(await server.sample('thingwire_writes_total{door="mqtt",outcome="stored"}')).toBe(0)
  })

  it('tell a magic write that was not applied', async () => {
    const server = await startWatched()
    const thing = await createThing(server)
    for (const member of ['a', 'b']) {
      await write(server, thing, { values: [{ key: `$settings.${member}`, value: 'x'.repeat(40_000) }] })
    }
    const refused = () =>
      server.sample('thingwire_write_refusals_total{door="magic",reason="settings_too_large"}')
    await eventually(refused).toBe(1)
    await eventually(() => server.sample('thingwire_magic_queue_writes')).toBe(0)
    expect(await server.sample('thingwire_magic_lag_seconds')).toBe(0)
  })

  it('tell connections, streams and subscriptions while they last', async () => {
    const server = await startWatched()
    const thing = await createThing(server)
    const open = { username: thing.thingToken }
    const device = await connectMqtt({ ...server.mqtt, ...open })
    const page = await connectMqtt({ ...server.webSocket, ...open })
    await page.subscribeAll([`things/${thing.thingId}/values/+`, `v2/things/${thing.thingId}`])
    const leaving = new AbortController()
    await fetch(`${server.url}/v2/things/${thing.thingToken}`, { signal: leaving.signal })
    const connections = async (kind: string) => server.sample(`thingwire_connections{kind="${kind}"}`)
    const all = async () => await Promise.all(['mqtt', 'websocket', 'stream'].map(connections))
    expect(await all()).toEqual([1, 1, 1])
    expect(await server.sample('thingwire_subscriptions')).toBe(2)
    await eventually(() => server.sample('thingwire_mqtt_connects_total{return_code="0"}')).toBe(2)

    await device.publish(writeTopicOf(thing.thingToken), reading(1))
    await page.next(packet => packet.cmd === 'publish')
    expect(await server.sample('thingwire_fan_out_lag_seconds_count')).toBeGreaterThan(0)

    leaving.abort()
    await Promise.all([device.disconnect(), page.disconnect()])
    // Of a stream that is left, a piece that nobody takes tells.
    const allAfterWrite = async () => {
      await write(server, thing, reading(1))
      return await all()
    }
    await eventually(allAfterWrite).toEqual([0, 0, 0])
    await eventually(() => server.sample('thingwire_subscriptions')).toBe(0)
  })

  it('tell by return code who was not let in, and why connections were broken off', async () => {
    const server = await startWatched()
    const wrong = await connectMqtt({ ...server.mqtt, username: 'x', password: 'wrong' })
    expect(wrong.connack.returnCode).toBe(4)
    await eventually(() => server.sample('thingwire_mqtt_connects_total{return_code="4"}')).toBe(1)
    const modern = await connectMqtt({ ...server.mqtt, protocolVersion: 5, username: 'x', password: 'wrong' })
    expect(modern.connack.reasonCode).toBe(0x86)
    await eventually(() => server.sample('thingwire_mqtt_connects_total{return_code="4"}')).toBe(2)
    const unknown = await openMqtt(server.mqtt)
    unknown.sendBytes(Buffer.from([0x10, 7, 0, 4, 0x4d, 0x51, 0x54, 0x54, 6]))
    expect((await unknown.next(isOf('connack'))).returnCode).toBe(1)
    await eventually(() => server.sample('thingwire_mqtt_connects_total{return_code="1"}')).toBe(1)
    for (const [place, protocolVersion] of ([4, 5] as const).entries()) {
      const device = await connectMqtt({ ...server.mqtt, protocolVersion })
      device.publish('elsewhere', 'x', { qos: 0 }).catch(() => {})
      await device.untilClosed()
      await eventually(() => server.sample('thingwire_mqtt_broken_off_total{reason="forbidden"}')).toBe(
        place + 1,
      )
    }
  })

  it('count a message that is over the Maximum Packet Size of a client', async () => {
    const server = await startWatched()
    const thing = await createThing(server)
    const modern = { ...server.mqtt, protocolVersion: 5, username: thing.thingToken } as const
    const reader = await connectMqtt({ ...modern, properties: { maximumPacketSize: 50 } })
    await reader.subscribe(`things/${thing.thingId}/values/n`)
    await write(server, thing, reading(1))
    await eventually(() => server.sample('thingwire_mqtt_messages_dropped_total')).toBe(1)
  })

  it('tell how many things and persistent sessions there are, and what the store takes', async () => {
    const server = await startWatched()
    const thing = await createThing(server)
    await connectMqtt({ ...server.mqtt, username: thing.thingToken, clientId: 'stays', clean: false })
    await eventually(() => server.sample('thingwire_things')).toBe(1)
    await eventually(() => server.sample('thingwire_mqtt_sessions')).toBe(1)
    const samples = samplesIn(await server.scrape())
    expect(samples.get('thingwire_store_ready')).toBe(1)
    expect(samples.get('thingwire_store_bytes')).toBeGreaterThan(0)
    expect(samples.get('thingwire_store_free_bytes')).toBeGreaterThan(0)
    expect(samples.get('thingwire_live_waiting_bytes')).toBe(0)
  })
})
