import { readJson } from '../core/json/read-json.ts'
import { maximumRecords } from '../core/parse.ts'
import { ThingwireError } from '../errors.ts'
import type { OwnFormat, SentRecord } from './format.ts'
import { flatten, isNoReading, keyOf, recordsAt } from './reading.ts'

const example = 'an object such as {"temperature":21.5}'

/**
 * A JSON object, `{"temperature":21.5,"datetime":"2026-11-21T09:30:00Z"}`, or an array of them, each measured at its own datetime. The
 * levels are the begin of each key. With levels the body may also be one value, also an array without objects.
 */
export const jsonFormat: OwnFormat = {
  name: 'json',
  read(levels, body) {
    const sent = readJson(body)
    const prefix = levels.every(level => level === '') ? '' : keyOf(...levels)
    const isList = Array.isArray(sent) && (prefix === '' || sent.some(isObject))
    const items: readonly unknown[] = isList ? sent : [sent]
    const datetimePath = prefix === '' ? 'datetime' : `${prefix}.datetime`
    const records: SentRecord[] = []
    for (let place = 0; place < items.length && records.length <= maximumRecords; place++) {
      const item = items[place]
      if (isNoReading(item)) continue
      if (isList && !isObject(item)) {
        throw new ThingwireError('invalid_body', `item ${place} of the array must be ${example}`)
      }
      if (prefix === '' && !isObject(item)) {
        const message = `the body must be ${example} or an array of them, or its key must follow the format: …/write/json/<key>`
        throw new ThingwireError('invalid_body', message)
      }
      const readings = flatten(item, prefix, path => path !== datetimePath)
      // The rules of a record check it.
      const { datetime } = item as { datetime?: string | null }
      for (const record of recordsAt(readings, datetime ?? undefined)) records.push(record)
    }
    return records
  },
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
