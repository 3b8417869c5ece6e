import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { figures } from '../../../web/src/operator/figures/catalogue.ts'
import {
  formatBytes,
  formatCount,
  formatRate,
  formatSeconds,
} from '../../../web/src/operator/figures/format.ts'
import {
  historyLength,
  noHistory,
  refusalsOf,
  rejectedConnectionsOf,
  withSample,
} from '../../../web/src/operator/figures/history.ts'
import { quantile, rate } from '../../../web/src/operator/figures/increase.ts'
import { Metrics } from '../../../web/src/operator/figures/metrics.ts'
import { createThing, write } from '../../helpers/http-client.ts'
import { mqttOfTest } from '../../helpers/of-test.ts'
import { reading } from '../../mqtt/door-service.ts'
import { startWatched } from '../../server/metrics/watched-server.ts'

/** What a node says of itself, written by the library that the server uses. */
class Node {
  readonly registry = new Registry()
  readonly refusals = this.counter('thingwire_write_refusals_total', 'door', 'reason')
  readonly writes = this.counter('thingwire_writes_total', 'door', 'outcome')
  readonly acks = new Histogram({
    name: 'thingwire_ack_duration_seconds',
    help: 'h',
    labelNames: ['door'],
    buckets: [0.001, 0.01, 0.1],
    registers: [this.registry],
  })

  constructor(startedAt: number) {
    new Gauge({ name: 'process_start_time_seconds', help: 'h', registers: [this.registry] }).set(startedAt)
  }

  counter(name: string, ...labelNames: string[]): Counter {
    return new Counter({ name, help: 'h', labelNames, registers: [this.registry] })
  }

  async metrics(at: number): Promise<Metrics> {
    return new Metrics(await this.registry.metrics(), at)
  }
}

describe('Metrics', () => {
  it('sums the series that have the labels, whatever is in these', async () => {
    const node = new Node(1)
    node.refusals.inc({ door: 'http', reason: 'a "b" \\ c' }, 2)
    node.refusals.inc({ door: 'mqtt', reason: 'invalid_key' }, 3)
    const metrics = await node.metrics(0)
    expect(metrics.sum('thingwire_write_refusals_total')).toBe(5)
    expect(metrics.sum('thingwire_write_refusals_total', { door: 'mqtt' })).toBe(3)
    expect(metrics.sum('thingwire_write_refusals_total', { door: 'will' })).toBeUndefined()
    const sums = metrics.sumsBy('thingwire_write_refusals_total', 'reason')
    expect([...sums]).toEqual([
      ['a "b" \\ c', 2],
      ['invalid_key', 3],
    ])
  })
})

describe('rate()', () => {
  it('is the increase each second, and nothing across a restart', async () => {
    const node = new Node(1)
    const first = await node.metrics(10_000)
    node.writes.inc({ door: 'http', outcome: 'stored' }, 30)
    node.writes.inc({ door: 'http', outcome: 'repeated' }, 20)
    const second = await node.metrics(15_000)
    expect(rate(second, first, 'thingwire_writes_total', { door: 'http' })).toBe(10)
    expect(rate(second, first, 'thingwire_writes_total', { door: 'mqtt' })).toBe(0)
    expect(rate(second, undefined, 'thingwire_writes_total')).toBeUndefined()
    expect(rate(await new Node(2).metrics(20_000), second, 'thingwire_writes_total')).toBeUndefined()
  })
})

describe('quantile()', () => {
  it('is taken from what was counted since, between the bounds of the bucket', async () => {
    const node = new Node(1)
    const name = 'thingwire_ack_duration_seconds'
    for (let count = 0; count < 100; count++) node.acks.observe({ door: 'http' }, 0.05)
    const before = await node.metrics(0)
    for (let count = 0; count < 100; count++) node.acks.observe({ door: 'http' }, 0.005)
    const now = await node.metrics(60_000)
    expect(quantile(0.5, now, before, name, { door: 'http' })).toBeCloseTo(0.0055)
    expect(quantile(0.99, now, before, name, { door: 'mqtt' })).toBeUndefined()
    expect(quantile(0.99, now, now, name)).toBeUndefined()
    node.acks.observe({ door: 'http' }, 7)
    expect(quantile(0.99, await node.metrics(61_000), now, name)).toBe(0.1)
  })
})

describe('withSample()', () => {
  it('keeps ten minutes', async () => {
    const node = new Node(1)
    let history = noHistory
    for (let at = 0; at <= 2 * historyLength; at += 60_000)
      history = withSample(history, await node.metrics(at))
    expect(history.points.map(({ at }) => at)).toEqual(history.samples.map(({ at }) => at))
    expect(history.points).toHaveLength(11)
  })

  it('fills every figure from what a server says', async () => {
    const server = await startWatched()
    const thing = await createThing(server)
    const ask = async (at: number) => new Metrics(await server.scrape(), at)
    const connect = async () => {
      return await mqttOfTest({ ...server.mqtt, username: thing.thingToken })
    }
    const [subscriber, publisher] = [await connect(), await connect()]
    await subscriber.subscribe(`things/${thing.thingToken}/values/#`)
    const before = withSample(noHistory, await ask(0))
    await write(server, thing, reading(1))
    await write(server, thing, { values: [{ key: 'a b', value: 1 }] })
    await publisher.publish(`things/${thing.thingToken}/write`, reading(2))
    await expect.poll(() => server.sample('thingwire_fan_out_lag_seconds_count')).toBeGreaterThan(0)
    const history = withSample(before, await ask(5_000))
    const values = figures.map(({ title, lines }, place) => [
      title,
      Object.fromEntries(
        lines.map(({ label }, line) => [label, history.points.at(-1)?.values[place]?.[line]]),
      ),
    ])
    const some = expect.any(Number)
    expect(Object.fromEntries(values)).toEqual({
      Writes: { HTTP: 0.2, MQTT: 0.2 },
      Readings: { HTTP: 0.2, MQTT: 0.2 },
      'Time to acknowledge, last minute': {
        'HTTP p50': some,
        'HTTP p99': some,
        'MQTT p50': some,
        'MQTT p99': some,
      },
      Connections: { MQTT: 2, WebSocket: 0, 'HTTP streams': 0 },
      Lag: { 'Live messages p99': some, 'Magic resources': some },
      Store: { Size: some, 'Free disk': some, Limit: undefined },
      Things: { Registered: 1 },
    })
    expect(refusalsOf(history)).toEqual([{ reason: 'invalid_key', recently: 1, inAll: 1 }])
  })
})

describe('refusalsOf()', () => {
  it('counts what was refused of late, and since the node started', async () => {
    const node = new Node(1)
    node.refusals.inc({ door: 'http', reason: 'invalid_key' }, 9)
    node.refusals.inc({ door: 'http', reason: 'invalid_json' }, 0)
    let history = withSample(noHistory, await node.metrics(0))
    node.refusals.inc({ door: 'http', reason: 'invalid_value' }, 2)
    node.refusals.inc({ door: 'mqtt', reason: 'invalid_value' }, 1)
    history = withSample(history, await node.metrics(5_000))
    expect(refusalsOf(history)).toEqual([
      { reason: 'invalid_value', recently: 3, inAll: 3 },
      { reason: 'invalid_key', recently: 0, inAll: 9 },
    ])
  })

  it('begins anew where the node was started again', async () => {
    const [old, next] = [new Node(1), new Node(2)]
    old.refusals.inc({ door: 'http', reason: 'invalid_key' }, 9)
    next.refusals.inc({ door: 'http', reason: 'invalid_key' }, 2)
    const history = withSample(withSample(noHistory, await old.metrics(0)), await next.metrics(5_000))
    expect(refusalsOf(history)).toEqual([{ reason: 'invalid_key', recently: 0, inAll: 2 }])
  })
})

describe('rejectedConnectionsOf()', () => {
  it('names the door and the reason, and leaves out what is no matter of a credential', async () => {
    const node = new Node(1)
    const connects = node.counter('thingwire_mqtt_connects_total', 'return_code')
    const brokenOff = node.counter('thingwire_mqtt_broken_off_total', 'reason')
    const errors = node.counter('thingwire_http_errors_total', 'reason')
    connects.inc({ return_code: '0' }, 50)
    connects.inc({ return_code: '3' }, 5)
    connects.inc({ return_code: '4' }, 3)
    brokenOff.inc({ reason: 'other' }, 7)
    errors.inc({ reason: 'invalid_session' }, 9)
    errors.inc({ reason: 'invalid_key' }, 4)
    const before = withSample(noHistory, await node.metrics(0))
    brokenOff.inc({ reason: 'unknown_thing_token' }, 2)
    expect(rejectedConnectionsOf(withSample(before, await node.metrics(5_000)))).toEqual([
      { reason: 'MQTT unknown_thing_token', recently: 2, inAll: 2 },
      { reason: 'HTTP invalid_session', recently: 0, inAll: 9 },
      { reason: 'MQTT CONNACK 4: unknown credential', recently: 0, inAll: 3 },
    ])
  })
})

describe('the numbers of figures', () => {
  it.each([
    [formatCount(0), '0'],
    [formatCount(999.7), '1 k'],
    [formatCount(1_240), '1.24 k'],
    [formatCount(100_000), '100 k'],
    [formatRate(0.2), '0.2/s'],
    [formatBytes(1_536), '1.5 KiB'],
    [formatBytes(75.4 * 1024 ** 3), '75.4 GiB'],
    [formatSeconds(0.000_42), '0.42 ms'],
    [formatSeconds(12), '12 s'],
  ])('has %s for %s', (text, wanted) => {
    expect(text).toBe(wanted)
  })
})
