import { findJsonMistake } from './json-mistake.ts'

/**
 * Parses the text of a file as JSON, without the byte order mark of some editors.
 *
 * @param what the file in messages, such as `the thing map things.json`
 * @throws Error with line and column of the mistake, but not with the parser's message, which may quote a secret
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
