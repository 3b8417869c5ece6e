/**
 * Packets of MQTT 5 byte by byte. Another implementation would write only what is allowed, and the server's own code must not decide
 * what is wrong with it.
 */

export const adminKey = 'malformed-packets-are-tried-with-this-key-0'
/** A topic of the option `topics`, on which the admin may publish. */
export const topic = 'tele/bad'

export type Bytes = readonly number[]

/** A Variable Byte Integer (1.5.5). */
export function variable(value: number): number[] {
  const bytes: number[] = []
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest]
    bytes.push((rest % 128) | 128)
  }
}

/** The same value in a byte more than it needs, which is forbidden (MQTT-1.5.5-1). */
export function overlong(value: number): number[] {
  const bytes = variable(value)
  return [...bytes.slice(0, -1), (bytes.at(-1) ?? 0) | 128, 0]
}

/** A Variable Byte Integer of five bytes, one more than there may be. */
export const fiveBytes: Bytes = [128, 128, 128, 128, 1]

export function two(value: number): number[] {
  return [value >> 8, value & 255]
}

/** Text or bytes behind their length (1.5.4, 1.5.6). */
export function field(content: string | Bytes): number[] {
  const bytes = [...(typeof content === 'string' ? Buffer.from(content) : content)]
  return [...two(bytes.length), ...bytes]
}

export function packet(firstByte: number, ...parts: readonly Bytes[]): Buffer {
  const content = parts.flat()
  return Buffer.from([firstByte, ...variable(content.length), ...content])
}

/** What is no text of MQTT, and makes its packet malformed (MQTT-1.5.4-1, -2). */
export const noTexts: readonly (readonly [name: string, bytes: Bytes])[] = [
  ['NUL', [97, 0]],
  ['a lone continuation byte', [97, 0x80]],
  ['an overlong slash', [0xc0, 0xaf]],
  ['a surrogate', [0xed, 0xa0, 0x80]],
  ['a code point over U+10FFFF', [0xf4, 0x90, 0x80, 0x80]],
  ['an unfinished character', [97, 0xc3]],
]

export function hex(code: number): string {
  return `0x${code.toString(16).padStart(2, '0')}`
}

interface ConnectParts {
  readonly firstByte?: number
  readonly flags?: number
  /** With their length in front. */
  readonly properties?: Bytes
  /** Client identifier, will, username and password. */
  readonly payload?: Bytes
}

export const credentials: Bytes = [...field('admin'), ...field(adminKey)]
/** In front of the client identifier: name, level, flags, keep-alive. */
export function connectHead(flags: number): number[] {
  return [...field('MQTT'), 5, flags, ...two(0)]
}

/** A CONNECT of the admin, whose client identifier the server assigns. */
export function connect(parts: ConnectParts = {}): Buffer {
  const { firstByte = 0x10, flags = 0xc2, properties = [0] } = parts
  const { payload = [...field(''), ...credentials] } = parts
  return packet(firstByte, connectHead(flags), properties, payload)
}

export const pingreq = Buffer.from([0xc0, 0])
export const disconnect = Buffer.from([0xe0, 0])
