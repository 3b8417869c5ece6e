import { readText } from '../core/json/read-json.ts'
import { ThingwireError } from '../errors.ts'
import type { OwnFormat } from './format.ts'
import { bareReading, keyOf } from './reading.ts'

/**
 * One bare text, such as `21.5`, of the key in the levels: `…/write/value/cellar/temperature`.
 *
 * An object or array is refused, not taken as a value: whoever sends `{"temperature":21.5}` here wants a number in a chart, and would
 * find a value that no chart can show. The format `json` reads it, and takes an array for a value.
 */
export const valueFormat: OwnFormat = {
  name: 'value',
  read(levels, body) {
    if (levels.every(level => level === '')) {
      throw new ThingwireError('invalid_key', 'the key must follow the format: …/write/value/<key>')
    }
    const text = readText(body)
    if (/^\s*[{[]/.test(text) && isJson(text)) {
      throw new ThingwireError(
        'invalid_body',
        'the body must be a bare value such as 21.5, but it is a JSON object or array, which the format json reads: …/write/json',
      )
    }
    const value = bareReading(text)
    return value === undefined ? [] : [{ key: keyOf(...levels), value }]
  },
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
