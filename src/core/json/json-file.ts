import { findJsonMistake } from './json-mistake.ts'

/**
 * Reads the text of a file as JSON, without the byte order mark that editors put in front.
 *
 * @param what the file as a message names it, such as `the thing map things.json`
 * @throws Error with line and column of the mistake; the parser's own message may quote the text, and so a secret
 */
export function parseJsonFile(what: string, text: string): unknown {
  const json = text.replace(/^\ufeff/, '')
  try {
    return JSON.parse(json)
  } catch {
    const mistake = findJsonMistake(json)
    throw new Error(`${what} is not valid JSON${mistake ? placed(json, mistake) : ''}`)
  }
}

function placed(json: string, { position, message }: { position: number; message: string }): string {
  const lines = json.slice(0, position).split('\n')
  const why = position === json.length ? 'it ends too early' : message
  return ` (line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}): ${why}`
}
