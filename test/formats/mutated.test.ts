import { describe, expect, it } from 'vitest'
import { isOrdinaryKey } from '../../src/core/record/key.ts'
import type { SourceFormat, SourceReader } from '../../src/formats/format.ts'
import { levels } from '../../src/formats/levels.ts'
import { shelly } from '../../src/formats/shelly.ts'
import { tasmota } from '../../src/formats/tasmota.ts'
import { zigbee2mqtt } from '../../src/formats/zigbee2mqtt.ts'
import { Random } from '../helpers/random.ts'
import ofLevels from './samples/levels.json' with { type: 'json' }
import ofShelly from './samples/shelly.json' with { type: 'json' }
import ofTasmota from './samples/tasmota.json' with { type: 'json' }
import ofZigbee2mqtt from './samples/zigbee2mqtt.json' with { type: 'json' }

type Sent = { readonly topic: string; readonly payload: unknown }

const formats: readonly [SourceFormat, readonly { readonly messages: readonly Sent[] }[]][] = [
  [tasmota, ofTasmota],
  [zigbee2mqtt, ofZigbee2mqtt],
  [shelly, ofShelly],
  [levels('{device}/{key}'), ofLevels],
]
const parts = [
  '{',
  '}',
  '[',
  ']',
  '"',
  ',',
  ':',
  'null',
  '-1',
  '1e999',
  'NaN',
  '"__proto__":',
  '{"a":',
  '/',
  'set/',
] as const

/** A text with some of its parts taken out, doubled, or replaced. */
function mutated(text: string, random: Random): string {
  let result = text
  for (let rest = 1 + random.below(4); rest > 0; rest--) {
    const from = random.below(result.length + 1)
    const to = random.chance(0.8) ? from + random.below(4) : from + random.below(result.length)
    const inserted = random.chance(0.5) ? random.pick(parts) : result.slice(from, to).repeat(random.below(3))
    result = result.slice(0, from) + inserted + result.slice(to)
  }
  return result
}

function readAndLearn(reader: SourceReader, topic: string, payload: Buffer): void {
  if (reader.knows(topic) === undefined) return
  const { readings, facts, described, unread } = reader.read({ topic, payload, receivedAt: 0 })
  for (const { device, records } of readings) {
    expect(device).not.toBe('')
    for (const { key, datetime = '2026' } of records) {
      if (!isOrdinaryKey(key) || datetime < '1970-01-02') throw new Error(`${topic} ${key} ${datetime}`)
    }
  }
  for (const { reason } of unread ?? []) expect(reason).toMatch(/^must be /)
  for (const [name, fact] of facts ?? []) reader.learn(name, fact && JSON.parse(JSON.stringify(fact)))
  for (const device of described ?? []) {
    const { resources = {} } = reader.describe(device) ?? {}
    expect(Object.keys(resources)).not.toContain('__proto__')
  }
}

describe.each(formats)('$name', (format, samples) => {
  it('reads mutated messages as nothing worse than texts', () => {
    const random = new Random(52)
    const reader = format.begin()
    const messages = samples.flatMap(sample => sample.messages)
    for (let round = 0; round < 200; round++) {
      for (const message of messages) {
        const text = typeof message.payload === 'string' ? message.payload : JSON.stringify(message.payload)
        const topic = random.chance(0.2) ? mutated(message.topic, random) : message.topic
        const bytes = Buffer.from(random.chance(0.9) ? mutated(text, random) : text)
        if (random.chance(0.05) && bytes.length > 0) bytes[random.below(bytes.length)] = random.below(256)
        readAndLearn(reader, topic, bytes)
      }
    }
  })

  it('takes deep nesting', () => {
    const deep = `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`
    for (const { messages } of samples) {
      for (const { topic } of messages) readAndLearn(format.begin(), topic, Buffer.from(deep))
    }
  })
})
