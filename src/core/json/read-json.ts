import { isUtf8 } from 'node:buffer'
import { ThingwireError } from '../../errors.ts'
import { findJsonMistake } from './json-mistake.ts'

const byteOrderMark = '\ufeff'
const replacementCharacter = '\ufffd'
const replacementBytes = Buffer.from(replacementCharacter)

/** Decodes a body; ignores a byte order mark. @throws ThingwireError invalid_utf8, with the position */
export function readText(body: Uint8Array): string {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const text = bytes.toString()
  // Invalid UTF-8 is decoded as U+FFFD, but a valid body may also contain that character.
  if (text.includes(replacementCharacter) && !isUtf8(bytes)) throw notUtf8(bytes, text)
  return text.startsWith(byteOrderMark) ? text.slice(1) : text
}

/** Parses a body as JSON; ignores a byte order mark. @throws ThingwireError invalid_utf8 or invalid_json, with the position */
export function readJson(body: Uint8Array): unknown {
  const json = readText(body)
  try {
    return JSON.parse(json)
  } catch {
    const mistake = findJsonMistake(json)
    throw new ThingwireError('invalid_json', `the body must be JSON${mistake ? `: ${mistake.message}` : ''}`)
  }
}

function notUtf8(bytes: Buffer, text: string): ThingwireError {
  const position = firstWrongByte(bytes, text)
  const byte = bytes
    .subarray(position, position + 1)
    .toString('hex')
    .toUpperCase()
  const isUtf16 = position === 0 && /^(?:fffe|feff)/.test(bytes.toString('hex', 0, 2))
  const problem = isUtf16 ? 'begins as UTF-16 does' : 'does not begin a character'
  return new ThingwireError(
    'invalid_utf8',
    `the body must be UTF-8: at position ${position} the byte ${byte} ${problem}`,
  )
}

/** @param text the decoded bytes */
function firstWrongByte(bytes: Buffer, text: string): number {
  let position = 0
  for (const character of text) {
    const isReplaced =
      character === replacementCharacter && !bytes.subarray(position, position + 3).equals(replacementBytes)
    if (isReplaced) return position
    position += Buffer.byteLength(character)
  }
  return position
}
