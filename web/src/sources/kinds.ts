import type { SourceTerms } from '../api/sources.ts'

/** A choice of devices that one source reads, in the words of users. */
export interface SourceKind {
  readonly title: string
  /** The name of the source until the user changes it. */
  readonly name: string
  readonly formats: readonly string[]
  /** How the devices send: over MQTT, with a webhook, or as clients of InfluxDB do. */
  readonly way: 'mqtt' | 'webhook' | 'influxdb'
  /** Whether the user describes the topics with a pattern. */
  readonly hasPattern?: true
  /** Where to enter the settings. */
  readonly where: string
}

export const sourceKinds: readonly SourceKind[] = [
  {
    title: 'Tasmota, Zigbee2MQTT, Shelly, Home Assistant discovery',
    name: 'house',
    formats: ['tasmota', 'zigbee2mqtt', 'shelly', 'homeassistant'],
    way: 'mqtt',
    where:
      'In the MQTT settings of each device. ESPHome and others that announce themselves to Home Assistant are read, too.',
  },
  {
    title: 'The Things Stack',
    name: 'the-things-stack',
    formats: ['ttn'],
    way: 'webhook',
    where:
      'In the console of your application choose Integrations, Webhooks, Custom webhook. The format is JSON. Enable the uplink message.',
  },
  {
    title: 'ChirpStack',
    name: 'chirpstack',
    formats: ['chirpstack'],
    way: 'webhook',
    where: 'In your application choose Integrations, HTTP. The encoding is JSON.',
  },
  {
    title: 'OwnTracks',
    name: 'owntracks',
    formats: ['owntracks'],
    way: 'webhook',
    where: 'In the preferences of the app choose the mode HTTP.',
  },
  {
    title: 'Telegraf, InfluxDB',
    name: 'telegraf',
    formats: ['influx'],
    way: 'influxdb',
    where:
      'In the InfluxDB v2 output of Telegraf, or wherever a program writes to InfluxDB. Organization and bucket may be any text.',
  },
  {
    title: 'My own topics',
    name: 'my-topics',
    formats: ['levels'],
    way: 'mqtt',
    hasPattern: true,
    where: 'In the MQTT settings of each device.',
  },
]

/** The terms of a new source. @param pattern such as `garden/{device}/{key}`; of kinds with a pattern */
export function termsOf({ formats, way, hasPattern }: SourceKind, pattern: string): SourceTerms {
  if (hasPattern) return { formats, pattern, topics: [filterOf(pattern)] }
  // A source that is posted to needs no topics, and should not overlap with those of another.
  return way === 'mqtt' ? { formats } : { formats, topics: [] }
}

/** The topics that a pattern matches. */
function filterOf(pattern: string): string {
  return pattern.replace('{device}', '+').replace(/\{key\}$/, '#')
}
