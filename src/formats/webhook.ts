import { parseDegrees } from '../core/record/geo.ts'
import type { DeviceDescription, Fact, Outcome, Reading, ResourceDescription, SentRecord } from './format.ts'
import { membersOf, textOf } from './payload.ts'
import { flatten, keyOf } from './reading.ts'

/** What the formats share that arrive by webhook, and over MQTT with the same bodies. */

export type Members = Readonly<Record<string, unknown>>

export function numberOf(value: unknown): number | undefined {
  return Number.isFinite(value) ? (value as number) : undefined
}

/** Whether a value can be a write id (contract §2.1). */
export function isWriteId(value: unknown): value is string {
  return typeof value === 'string' && /^[ -~]{1,64}$/.test(value)
}

/** The outcome of a message that is unread for one reason. */
export function mistakeAt(place: string, reason: string): Outcome {
  return { readings: [], unread: [{ place, reason }] }
}

/** The record of a position; none if the degrees are out of range. */
export function positionOf(lat: unknown, long: unknown): readonly SentRecord[] {
  const latitude = parseDegrees(lat, 90)
  const longitude = parseDegrees(long, 180)
  if (latitude === undefined || longitude === undefined) return []
  return [{ key: '$geo', value: null, geo: { lat: latitude, long: longitude } }]
}

/**
 * `rssi` and `snr` of an uplink at the gateway that received it with the highest signal strength.
 *
 * @param receptions one object for each gateway; version 3 of ChirpStack names the ratio `loRaSNR`
 */
export function signalOf(receptions: unknown): readonly SentRecord[] {
  let best: Members = {}
  for (const item of Array.isArray(receptions) ? receptions : []) {
    const reception = membersOf(item)
    if (reception && !(strengthOf(reception) < strengthOf(best))) best = reception
  }
  return [
    { key: 'rssi', value: numberOf(best.rssi) },
    { key: 'snr', value: numberOf(best.snr ?? best.loRaSNR) },
  ].filter(({ value }) => value !== undefined)
}

function strengthOf(reception: Members): number {
  return numberOf(reception.rssi) ?? Number.NEGATIVE_INFINITY
}

export type Descriptions = ReadonlyMap<string, ResourceDescription>

/** Descriptions by key, of a row for each unit. */
export function describedBy(
  rows: readonly { readonly unit: string; readonly keys: readonly string[] }[],
): Descriptions {
  return new Map(rows.flatMap(({ unit, keys }) => keys.map(key => [key, { unit }] as const)))
}

/**
 * The readings that a codec has made of a payload. The names are the codec's own: one that has a description in this format, such as
 * `rssi`, gets the member of the message in front, so that no unit stands beside the number of a codec.
 */
export function codecReadings(
  object: Members,
  member: string,
  descriptions: Descriptions,
): readonly SentRecord[] {
  const readings = flatten(object, '')
  for (const reading of readings) {
    if (descriptions.has(reading.key)) reading.key = keyOf(member, reading.key)
  }
  return readings
}

/** The devices of a source: the name of each, and those of its keys that have a description. */
export class KnownDevices {
  readonly #descriptions: Descriptions
  readonly #facts = new Map<string, { readonly name: string | undefined; readonly keys: readonly string[] }>()

  constructor(descriptions: Descriptions) {
    this.#descriptions = descriptions
  }

  learn(device: string, fact: Fact | null): void {
    if (!fact) {
      this.#facts.delete(device)
      return
    }
    const keys = Array.isArray(fact.keys) ? fact.keys : []
    this.#facts.set(device, {
      name: textOf(fact.name),
      keys: keys.filter(key => this.#descriptions.has(key)),
    })
  }

  describe(device: string): DeviceDescription | undefined {
    const fact = this.#facts.get(device)
    if (!fact) return undefined
    const resources = Object.fromEntries(fact.keys.map(key => [key, this.#descriptions.get(key) ?? {}]))
    return fact.name === undefined ? { resources } : { name: fact.name, resources }
  }

  /** The outcome of a message about one device, with a fact if the name or a key is new. */
  outcome(reading: Reading, name: string | undefined): Outcome {
    const readings = reading.records.length > 0 ? [reading] : []
    const old = this.#facts.get(reading.device)
    const keys = new Set(old?.keys)
    for (const { key, value } of reading.records) {
      if (typeof value === 'number' && this.#descriptions.has(key)) keys.add(key)
    }
    const isKnown = keys.size === (old?.keys.length ?? 0)
    if (isKnown && (name === undefined || name === old?.name)) return { readings }
    const known = name ?? old?.name
    const fact = { ...(known !== undefined && { name: known }), keys: [...keys] }
    return { readings, facts: new Map([[reading.device, fact]]), described: [reading.device] }
  }
}
