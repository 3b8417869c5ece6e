import { chirpstack } from './chirpstack.ts'
import type { OwnFormat, SourceFormat } from './format.ts'
import { homeAssistant } from './homeassistant/homeassistant.ts'
import { influx, influxFormat } from './influx.ts'
import { jsonFormat } from './json.ts'
import { levels, patternMistake } from './levels.ts'
import { owntracks } from './owntracks.ts'
import { shelly } from './shelly.ts'
import { tasmota } from './tasmota.ts'
import { ttn } from './ttn.ts'
import { valueFormat } from './value.ts'
import { zigbee2mqtt } from './zigbee2mqtt.ts'

/** The formats of a thing's own address by name. A new format is one line here. */
export const ownFormats: ReadonlyMap<string, OwnFormat> = new Map(
  [valueFormat, jsonFormat, influxFormat].map(format => [format.name, format]),
)

/** The formats of what a house publishes: a source that is made without formats has these, and has all topics. */
const ofHouse: readonly SourceFormat[] = [tasmota, zigbee2mqtt, shelly, homeAssistant]

/** The formats of what webhooks post. */
const ofWebhooks: readonly SourceFormat[] = [owntracks, ttn, chirpstack]

/** The formats of sources by name. A new format is one line here, or in the list of its kind above. */
export const sourceFormats: ReadonlyMap<string, SourceFormat> = new Map(
  [...ofHouse, ...ofWebhooks, influx].map(format => [format.name, format]),
)

const houseNames = ofHouse.map(({ name }) => name)
const names = [...sourceFormats.keys(), 'levels']

/** The formats that a source has, in the order in which they are tried. @param pattern of the format `levels` */
export function formatsOf(chosen: readonly string[], pattern: string | undefined): readonly SourceFormat[] {
  return chosen.flatMap(name => {
    if (name === 'levels') return pattern === undefined ? [] : [levels(pattern)]
    return sourceFormats.get(name) ?? []
  })
}

/** What formats a source may have (contract §7.12). */
export const sourceRules = {
  defaultFormats: houseNames,

  /** Formats that are mostly posted have no topics unless they are named: they would overlap those of the house. */
  readsTopics: (chosen: readonly string[]): boolean =>
    chosen.some(name => name === 'levels' || houseNames.includes(name)),

  readsWebhooks: (chosen: readonly string[]): boolean => ofWebhooks.some(({ name }) => chosen.includes(name)),

  /** What is wrong with formats, pattern or topics, as a sentence without a full stop; undefined if nothing is. */
  fault(
    chosen: readonly string[],
    pattern: string | undefined,
    topics: readonly string[] = [],
  ): string | undefined {
    if (chosen.length === 0 || !chosen.every(name => names.includes(name)))
      return `formats must be one or more of ${names.join(', ')}`
    if (chosen.includes('levels') !== (pattern !== undefined))
      return 'pattern must be given with the format levels, and only with it, such as "garden/{device}/{key}"'
    if (topics.length > 0 && chosen.every(name => name === influx.name))
      return 'topics must be none with the format influx alone, which reads what clients of InfluxDB write over HTTP'
    return pattern === undefined ? undefined : patternMistake(pattern)
  },
}
