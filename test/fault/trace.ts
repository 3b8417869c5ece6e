/** A system call in what `strace -f -y -xx` has written. */
export interface SystemCall {
  readonly name: string
  /** What its first argument, a file descriptor, stands for: a path, or `socket:[<number>]`. */
  readonly file: string
  /** The bytes that it read or wrote. */
  readonly bytes: Buffer
  /** -1 if it failed. */
  readonly result: number
  /** Place in the order of all beginnings and ends of system calls. */
  readonly began: number
  readonly ended: number
}

/** For `Strace.attach`: what `parseTrace` can read. */
export function traceOptions(output: string): string[] {
  const calls = 'read,readv,recvfrom,recvmsg,write,writev,pwrite64,pwritev,sendto,sendmsg,fdatasync,fsync'
  return ['-y', '-xx', '-s', '1048576', '-e', `trace=${calls}`, '-e', 'signal=none', '-o', output]
}

const line = /^(\d+) +(.*)$/
const unfinished = / ?<unfinished \.\.\.>$/
const resumed = /^<\.\.\. \w+ resumed>/
const whole = /^(\w+)\((\d+)<((?:\\x[0-9a-f]{2})*)>(.*)\) += (-?\d+|\?)/
const string = /"((?:\\x[0-9a-f]{2})*)"(\.\.\.)?/g

/**
 * A line stands where its call began. A call that others overlapped has a second line, where it ended.
 *
 * @throws Error if bytes are cut off
 */
export function parseTrace(text: string): SystemCall[] {
  const begun = new Map<string, { text: string; began: number }>()
  const calls: SystemCall[] = []
  for (const [ended, content] of text.split('\n').entries()) {
    const [, thread = '', event = ''] = line.exec(content) ?? []
    if (unfinished.test(event)) {
      begun.set(thread, { text: event.replace(unfinished, ''), began: ended })
      continue
    }
    const first = resumed.test(event) ? begun.get(thread) : { text: '', began: ended }
    if (!first) continue
    const match = whole.exec(first.text + event.replace(resumed, ''))
    if (!match) continue
    const [, name = '', , file = '', rest = '', result = ''] = match
    calls.push({
      name,
      file: decode(file).toString(),
      bytes: bytesOf(rest),
      result: result === '?' ? -1 : Number(result),
      began: first.began,
      ended,
    })
  }
  return calls
}

function bytesOf(parameters: string): Buffer {
  const parts = [...parameters.matchAll(string)]
  if (parts.some(([, , cut]) => cut)) throw new Error('the trace is cut off: raise the -s of strace')
  return Buffer.concat(parts.map(([, hex = '']) => decode(hex)))
}

function decode(hex: string): Buffer {
  return Buffer.from(hex.replaceAll('\\x', ''), 'hex')
}
