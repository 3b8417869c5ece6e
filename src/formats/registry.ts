import type { OwnFormat, SourceFormat } from './format.ts'
import { influxFormat } from './influx.ts'
import { jsonFormat } from './json.ts'
import { valueFormat } from './value.ts'

/** Formats of a thing's own address, by name. */
export const ownFormats = byName<OwnFormat>(valueFormat, jsonFormat, influxFormat)

/** Formats of sources, by name. */
export const sourceFormats = byName<SourceFormat>()

function byName<Format extends { readonly name: string }>(
  ...formats: readonly Format[]
): ReadonlyMap<string, Format> {
  return new Map(formats.map(format => [format.name, format]))
}
