/** One HTTP answer as it came over the wire. */
export interface HttpAnswer {
  readonly status: number
  /** By name in lower case. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: Buffer
  /** All of its bytes, as Latin-1. */
  readonly text: string
}

/** What the bytes of a connection hold. */
export interface ReadAnswers {
  readonly answers: readonly HttpAnswer[]
  /** What comes behind the last complete answer. */
  readonly rest: Buffer
}

/**
 * Reads answers one behind the other. Nothing but a status line may begin one, and its body is as long as it says.
 *
 * @throws Error if the bytes are no HTTP
 */
export function readAnswers(bytes: Buffer): ReadAnswers {
  const answers: HttpAnswer[] = []
  let rest = bytes
  for (;;) {
    const read = readAnswer(rest)
    if (!read) return { answers, rest }
    answers.push(read.answer)
    rest = rest.subarray(read.length)
    // What follows is of another protocol.
    if (read.answer.status === 101) return { answers, rest }
  }
}

function readAnswer(bytes: Buffer): { answer: HttpAnswer; length: number } | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd === -1) return undefined
  const [statusLine = '', ...lines] = bytes.subarray(0, headEnd).toString('latin1').split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3}) [A-Za-z -]+$/.exec(statusLine)?.[1])
  if (!status) throw new Error(`no status line: ${JSON.stringify(statusLine.slice(0, 100))}`)
  const headers = new Map(lines.map(readHeader))
  const start = headEnd + 4
  const body = readBody(bytes.subarray(start), status, headers)
  if (!body) return undefined
  const length = start + body.length
  const text = bytes.subarray(0, length).toString('latin1')
  return { answer: { status, headers, body: body.content, text }, length }
}

function readHeader(line: string): [string, string] {
  const match = /^([A-Za-z0-9-]+): ?(.*)$/.exec(line)
  if (!match) throw new Error(`no header: ${JSON.stringify(line.slice(0, 100))}`)
  const [, name = '', value = ''] = match
  return [name.toLowerCase(), value]
}

function readBody(bytes: Buffer, status: number, headers: ReadonlyMap<string, string>) {
  if (status < 200) return { content: Buffer.alloc(0), length: 0 }
  if (headers.get('transfer-encoding') === 'chunked') return readChunks(bytes)
  const length = Number(headers.get('content-length') ?? Number.NaN)
  if (Number.isNaN(length)) throw new Error('an answer without a length')
  return bytes.length < length ? undefined : { content: bytes.subarray(0, length), length }
}

function readChunks(bytes: Buffer): { content: Buffer; length: number } | undefined {
  const chunks: Buffer[] = []
  let place = 0
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', place)
    if (lineEnd === -1) return undefined
    const size = Number.parseInt(bytes.subarray(place, lineEnd).toString('latin1'), 16)
    const start = lineEnd + 2
    const end = start + size + 2
    if (Number.isNaN(size)) throw new Error('a chunk without a size')
    if (bytes.length < end) return undefined
    if (size === 0) return { content: Buffer.concat(chunks), length: end }
    chunks.push(bytes.subarray(start, start + size))
    place = end
  }
}
