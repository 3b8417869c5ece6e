import type { SourceFormat } from './format.ts'

/** The formats of sources, by name, in the order in which they are tried. */
const formats: ReadonlyMap<string, SourceFormat> = new Map([])

/** The formats that read messages on topics; the others read what is posted. */
const ofTopics = new Set([
  'tasmota',
  'zigbee2mqtt',
  'shelly',
  'homeassistant',
  'owntracks',
  'chirpstack',
  'levels',
])

/** The formats that a source has. @param pattern of the format `levels` */
export function formatsOf(names: readonly string[], _pattern: string | undefined): readonly SourceFormat[] {
  return names.flatMap(name => formats.get(name) ?? [])
}

/** What formats a source may have (contract §7.12). */
export const sourceRules = {
  defaultFormats: ['tasmota', 'zigbee2mqtt', 'shelly', 'homeassistant'],

  readsTopics(names: readonly string[]): boolean {
    return names.some(name => ofTopics.has(name))
  },

  fault(names: readonly string[], pattern: string | undefined): string | undefined {
    const all = [...formats.keys(), 'levels']
    const unknown = names.find(name => !all.includes(name))
    if (unknown !== undefined || names.length === 0) return `formats must be some of ${all.join(', ')}`
    if (names.includes('levels') !== (pattern !== undefined))
      return 'pattern must be given with the format levels, and only with it, such as "garden/{device}/{key}"'
    return undefined
  },
}
