import { usageError } from '../exit.ts'
import type { WrittenRecord } from './sourced.ts'

const form = /^([$A-Za-z0-9._-]+)=([\s\S]*)$/

/** Whether an operand is a reading, not the name of a thing. */
export function isReading(operand: string): boolean {
  return form.test(operand)
}

/**
 * The record of `temperature=21.5`: what is JSON is taken as such, everything else as a string.
 *
 * @throws CommandError usage
 */
export function readingOf(operand: string): Pick<WrittenRecord, 'key' | 'value'> {
  const [, key, text] = form.exec(operand) ?? []
  if (key === undefined || text === undefined) {
    throw usageError(`${operand} is not a reading: write key=value, such as temperature=21.5`)
  }
  return { key, value: jsonOrText(key, text) }
}

function jsonOrText(key: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    if (!/^\s*[[{"]/.test(text)) return text
    throw usageError(
      `the value of ${key} begins like JSON but is not JSON: quote it for the shell, '${key}={"on":true}'`,
    )
  }
}

/** Spelled by people, spreadsheets and sensors, and no JSON: `21,5`, `1,234.5`, `+3`, `.5`, `007`, `0x1F`, `NaN`. */
const nearlyNumber =
  /^\s*[+-]?(\d+([.,]\d*)?|[.,]\d+|\d{1,3}(,\d{3})+(\.\d*)?|0x[\da-f]+|nan|inf(inity)?)(e[+-]?\d+)?\s*$/i

/** Of an operand whose value becomes a string and was probably meant as a number: none or one. */
export function notesOf(operand: string): string[] {
  const { key, value } = readingOf(operand)
  // One that is quoted is meant as a string.
  if (typeof value !== 'string' || !operand.endsWith(`=${value}`) || !nearlyNumber.test(value)) return []
  return [`${key}: ${value} is not a JSON number and is stored as text; write a number as 21.5`]
}

/** `60.08,23.54`. @throws CommandError usage */
export function geoOf(text: string): { lat: number; long: number } {
  const [, lat, long] = /^(-?\d+(?:\.\d+)?), ?(-?\d+(?:\.\d+)?)$/.exec(text) ?? []
  if (lat === undefined) throw usageError('--geo must be latitude,longitude in degrees, such as 60.08,23.54')
  return { lat: Number(lat), long: Number(long) }
}
