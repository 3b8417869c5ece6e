import { expect, it } from 'vitest'
import {
  type DeviceDescription,
  type Outcome,
  type Reading,
  type SentRecord,
  type SourceFormat,
  type SourceReader,
  type Unread,
  wholeOf,
} from '../../src/formats/format.ts'
import type { Sample, SampleMessage } from './samples.ts'

/** Reads messages with one reader, which learns after each of them. */
export function play(
  format: SourceFormat,
  messages: readonly SampleMessage[],
  receivedAt = Date.UTC(2026, 0, 1),
) {
  const reader = format.begin()
  const records = new Map<string, SentRecord[]>()
  const readings: Reading[] = []
  const unread: Unread[] = []
  for (const message of messages) {
    const outcome = outcomeOf(reader, message, receivedAt)
    for (const reading of outcome.readings) {
      readings.push(reading)
      records.set(reading.device, [...(records.get(reading.device) ?? []), ...reading.records])
    }
    unread.push(...(outcome.unread ?? []))
    for (const [name, fact] of outcome.facts ?? [])
      reader.learn(name, fact && JSON.parse(JSON.stringify(fact)))
  }
  const describe = (device: string): DeviceDescription | undefined => reader.describe(device)
  return { records, readings, unread, describe }
}

function outcomeOf(reader: SourceReader, message: SampleMessage, receivedAt: number): Outcome {
  const text = typeof message.payload === 'string' ? message.payload : JSON.stringify(message.payload)
  const { topic = '', post } = message
  if (post) {
    const { query = {}, headers = {} } = post
    const outcome = reader.readPost?.({ body: JSON.parse(text), query, headers })
    if (!outcome) throw new Error(`the body is not of the format: ${text}`)
    return outcome
  }
  if (!reader.knows(topic)) return { readings: [] }
  return wholeOf(reader.read({ topic, payload: Buffer.from(text), receivedAt }))
}

/** A test for each sample: its records, descriptions, and what is unread. */
export function testSamples(format: SourceFormat, samples: readonly Sample[]): void {
  it.each(samples)('reads $name', sample => {
    const { records, readings, unread, describe } = play(format, sample.messages)
    expect([...records.keys()].sort()).toEqual(
      Object.keys(sample.expect)
        .filter(device => sample.expect[device]?.records.length)
        .sort(),
    )
    for (const [device, expected] of Object.entries(sample.expect)) {
      expect(records.get(device) ?? []).toEqual(expected.records)
      const description = describe(device)
      if (expected.name !== undefined) expect(description?.name).toBe(expected.name)
      if (expected.resources) expect(description?.resources ?? {}).toEqual(expected.resources)
      const writeIds = readings
        .filter(reading => reading.device === device)
        .map(reading => reading.writeId ?? null)
      if (expected.writeIds) expect(writeIds).toEqual(expected.writeIds)
    }
    expect(unread).toEqual(sample.unread ?? [])
  })
}

/** The outcome of a body that comes by HTTP, with nothing beside it. */
export function postTo(format: SourceFormat, body: unknown): Outcome | undefined {
  return format.begin().readPost?.({ body, query: {}, headers: {} })
}

const odd: readonly unknown[] = [null, true, -1, 1e308, '', 'text', [[]], {}, { toString: 1, valueOf: 1 }]
const deepText = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
const deep = JSON.parse(deepText(40))
const foreign = JSON.parse('{"__proto__":{"x":1},"constructor":1,"prototype":2,"hasOwnProperty":3}')

/** A test that puts a value of each kind in the place of each member of the samples, and reads the outcome. */
export function testHostileInput(format: SourceFormat, topic: string, samples: readonly Sample[]): void {
  it('reads samples with any value in any place', () => {
    const reader = format.begin()
    const wrong: SentRecord[] = []
    for (const { messages } of samples) {
      for (const message of messages) {
        for (const payload of altered(message.payload)) {
          const { post = {} } = message
          const outcomes = [
            wholeOf(reader.read({ topic, payload: Buffer.from(JSON.stringify(payload)), receivedAt: 0 })),
            reader.readPost?.({ body: payload, query: post.query ?? {}, headers: post.headers ?? {} }),
          ]
          for (const outcome of outcomes) {
            for (const reading of outcome?.readings ?? []) {
              wrong.push(...reading.records.filter(({ key }) => !/^(?:\$geo|[\w.-]{1,128})$/.test(key)))
            }
            for (const [name, fact] of outcome?.facts ?? []) {
              reader.learn(name, fact)
              reader.describe(name)
            }
          }
        }
      }
    }
    expect(wrong).toEqual([])
    for (const payload of [Buffer.from(deepText(100_000)), Buffer.from('ff{}', 'latin1'), Buffer.of(0xff)]) {
      expect(reader.read({ topic, payload, receivedAt: 0 }).readings).toEqual([])
    }
  })
}

/** Copies of a value, each with one of its members, at any depth, replaced. */
function* altered(value: unknown): Generator<unknown> {
  yield* [...odd, deep, foreign]
  if (typeof value !== 'object' || value === null) return
  for (const [name, member] of Object.entries(value)) {
    for (const other of altered(member)) {
      yield Array.isArray(value) ? value.with(Number(name), other) : { ...value, [name]: other }
    }
  }
}
