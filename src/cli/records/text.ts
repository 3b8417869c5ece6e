import { failure } from '../exit.ts'

/** UTF-8 text of a file, part by part, less a byte order mark. @throws CommandError failed if it is none */
export async function* decoded(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const decode = (chunk?: Uint8Array) => {
    try {
      return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true })
    } catch {
      throw failure('the input is not UTF-8 text: convert it, or give a binary value as base64')
    }
  }
  for await (const chunk of chunks) yield decode(chunk)
  const rest = decode()
  if (rest !== '') yield rest
}

/** Lines without their ends, LF or CRLF. */
export async function* linesOf(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let open = ''
  for await (const text of texts) {
    const lines = (open + text).split('\n')
    open = lines.pop() ?? ''
    for (const line of lines) yield line.endsWith('\r') ? line.slice(0, -1) : line
  }
  if (open !== '') yield open
}
