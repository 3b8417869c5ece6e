import { findJsonMistake } from './json-mistake.ts'

/**
 * Parses the text of a file as JSON. A byte order mark, which some editors write, is ignored.
 *
 * @param what how messages refer to the file, for example `the thing map things.json`
 * @throws Error with the line and column of the mistake, but without the parser's message, which may quote a secret
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
