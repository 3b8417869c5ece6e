import { TextDecoder } from 'node:util'
import { failure } from '../exit.ts'

/**
 * Decodes the text of a file, part by part: UTF-8, or UTF-16 with a byte order mark, as spreadsheets write it. Drops the mark.
 *
 * @throws CommandError failed if the file is not such a text
 */
export async function* decoded(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let decoder: TextDecoder | undefined
  let open: Uint8Array = new Uint8Array()
  for await (const chunk of chunks) {
    open = Buffer.concat([open, chunk])
    if (open.length < 2 && !decoder) continue
    decoder ??= decoderFor(open)
    yield decode(decoder, open)
    open = new Uint8Array()
  }
  decoder ??= decoderFor(open)
  yield decode(decoder, open) + decode(decoder)
}

function decoderFor([first, second]: Uint8Array): TextDecoder {
  if (first === 0x1f && second === 0x8b) throw failure('the input is packed with gzip: gunzip it first')
  const mark =
    first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'
  return new TextDecoder(mark, { fatal: true })
}

/** @param chunk undefined at the end of the file */
function decode(decoder: TextDecoder, chunk?: Uint8Array): string {
  try {
    return decoder.decode(chunk, { stream: chunk !== undefined })
  } catch {
    throw failure('the input is not UTF-8 text: convert it, such as with iconv -f windows-1252 -t utf-8')
  }
}

/** Splits texts into lines, without their line ends (LF or CRLF). */
export async function* linesOf(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let open = ''
  for await (const text of texts) {
    const lines = (open + text).split('\n')
    open = lines.pop() ?? ''
    for (const line of lines) yield line.endsWith('\r') ? line.slice(0, -1) : line
  }
  if (open !== '') yield open
}
