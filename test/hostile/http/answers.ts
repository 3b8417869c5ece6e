/** One HTTP answer as it came over the wire, its text as Latin-1. */
export interface HttpAnswer {
  readonly status: number
  /** By name in lower case. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
  /** All of it. */
  readonly text: string
}

/**
 * Reads answers one behind the other. Nothing but a status line may begin one, and its body is as long as it says.
 *
 * @returns `rest`: what comes behind the last complete answer
 * @throws Error if the text is no HTTP
 */
export function readAnswers(text: string): {
  readonly answers: readonly HttpAnswer[]
  readonly rest: string
} {
  const answers: HttpAnswer[] = []
  let rest = text
  // What follows 101 is of another protocol.
  while (answers.at(-1)?.status !== 101) {
    const answer = readAnswer(rest)
    if (!answer) break
    answers.push(answer)
    rest = rest.slice(answer.text.length)
  }
  return { answers, rest }
}

function readAnswer(text: string): HttpAnswer | undefined {
  const headEnd = text.indexOf('\r\n\r\n')
  if (headEnd === -1) return undefined
  const [statusLine = '', ...lines] = text.slice(0, headEnd).split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3}) [A-Za-z -]+$/.exec(statusLine)?.[1])
  if (!status) throw new Error(`no status line: ${JSON.stringify(statusLine.slice(0, 100))}`)
  const headers = new Map(lines.map(readHeader))
  const start = headEnd + 4
  const read = readBody(text.slice(start), status, headers)
  return read && { status, headers, body: read.body, text: text.slice(0, start + read.length) }
}

function readHeader(line: string): [string, string] {
  const match = /^([A-Za-z0-9-]+): ?(.*)$/.exec(line)
  if (!match) throw new Error(`no header: ${JSON.stringify(line.slice(0, 100))}`)
  const [, name = '', value = ''] = match
  return [name.toLowerCase(), value]
}

function readBody(text: string, status: number, headers: ReadonlyMap<string, string>) {
  if (status < 200) return { body: '', length: 0 }
  if (headers.get('transfer-encoding') === 'chunked') return readChunks(text)
  const length = Number(headers.get('content-length') ?? Number.NaN)
  if (Number.isNaN(length)) throw new Error('an answer without a length')
  return text.length < length ? undefined : { body: text.slice(0, length), length }
}

function readChunks(text: string): { body: string; length: number } | undefined {
  let body = ''
  for (let place = 0; ; ) {
    const lineEnd = text.indexOf('\r\n', place)
    if (lineEnd === -1) return undefined
    const size = Number.parseInt(text.slice(place, lineEnd), 16)
    const start = lineEnd + 2
    if (Number.isNaN(size)) throw new Error('a chunk without a size')
    place = start + size + 2
    if (text.length < place) return undefined
    if (size === 0) return { body, length: place }
    body += text.slice(start, start + size)
  }
}
