import { expect, it } from 'vitest'
import type {
  DeviceDescription,
  Outcome,
  Reading,
  ResourceDescription,
  SentRecord,
  SourceFormat,
  SourceReader,
  Unread,
} from '../../src/formats/format.ts'

/** A message as a device publishes it. A payload that is no text is sent as JSON. */
export interface SampleMessage {
  readonly topic: string
  readonly payload: unknown
}

/** Messages that a device sends, and what they become: the data of test/formats/samples. */
export interface Sample {
  readonly name: string
  /** Repository, path and commit, or the document. */
  readonly from: string
  readonly messages: readonly SampleMessage[]
  /** By device. */
  readonly expect: Readonly<
    Record<
      string,
      {
        readonly records: readonly SentRecord[]
        readonly resources?: Readonly<Record<string, ResourceDescription>>
        readonly name?: string
        /** Of each reading; null: none. */
        readonly writeIds?: readonly (string | null)[]
      }
    >
  >
  readonly unread?: readonly Unread[]
}

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
  if (!reader.knows(message.topic)) return { readings: [] }
  return reader.read({ topic: message.topic, payload: Buffer.from(text), receivedAt })
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
      if (expected.resources) expect(description?.resources).toEqual(expected.resources)
      const writeIds = readings
        .filter(reading => reading.device === device)
        .map(reading => reading.writeId ?? null)
      if (expected.writeIds) expect(writeIds).toEqual(expected.writeIds)
    }
    expect(unread).toEqual(sample.unread ?? [])
  })
}
