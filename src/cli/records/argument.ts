import { LossyJson, parseExactly } from '../../core/json/exact-json.ts'
import { isMagicKey, isOrdinaryKey } from '../../core/record/key.ts'
import { refuseToken, usageError } from '../exit.ts'
import type { WrittenRecord } from './sourced.ts'
import { nearlyNumber, plainNumber, textIn, whyText } from './values.ts'

/** Whether an operand is a reading, not the name of a thing. */
export function isReading(operand: string): boolean {
  return operand.includes('=')
}

/**
 * The record of an operand such as `temperature=21.5`. If the value is JSON, it is parsed; otherwise it is a string.
 *
 * @throws CommandError usage
 */
export function readingOf(operand: string): Pick<WrittenRecord, 'key' | 'value'> {
  refuseToken(operand)
  if (!isReading(operand)) {
    throw usageError(`${operand} is not a reading: write key=value, such as temperature=21.5`)
  }
  const [, key = '', text = ''] = /^([^=]*)=(.*)$/s.exec(operand) ?? []
  if (!isMagicKey(key) && !isOrdinaryKey(key)) {
    throw usageError(
      `${JSON.stringify(key)} in ${operand} is not a key: a key is 1 to 128 letters, digits, ".", "-" or "_"`,
    )
  }
  if (text.trim() === '') {
    throw usageError(`${key} has no value; to write an empty text on purpose, write '${key}=""'`)
  }
  try {
    return { key, value: parseExactly(text) }
  } catch (error) {
    if (error instanceof LossyJson) throw usageError(`the value of ${key}: ${error.message}`)
    if (!/^\s*[[{"]/.test(text)) return { key, value: text }
    throw usageError(
      `the value of ${key} begins like JSON but is not JSON: quote it for the shell, '${key}={"on":true}'`,
    )
  }
}

/** A note if the value of an operand looks like a number but is stored as text; else empty. */
export function notesOf(operand: string): string[] {
  const { key, value } = readingOf(operand)
  const text = textIn(value)
  // A quoted value is meant as a string.
  if (text === undefined || operand.includes(`"${text}"`) || !nearlyNumber.test(text)) return []
  return [`${key}: ${text} is stored as text; ${whyText(text, '21.5')}`]
}

/** Parses a position such as `60.08,23.54`. @throws CommandError usage */
export function geoOf(text: string): { lat: number; long: number } {
  const [lat = 91, long = 181, ...others] = text
    .split(',')
    .map(part => plainNumber(part.trim()) ?? Number.NaN)
  if (Math.abs(lat) <= 90 && Math.abs(long) <= 180 && others.length === 0) return { lat, long }
  throw usageError(
    '--geo must be latitude,longitude in degrees (-90 to 90, -180 to 180), such as 60.08,23.54',
  )
}
