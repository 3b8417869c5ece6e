import { isIPv4, isIPv6 } from 'node:net'

/**
 * The header with which a proxy begins a connection, to name its client. There are versions 1 and 2; section numbers in this file
 * refer to HAProxy's document "The PROXY protocol". The package proxy-protocol-js is not used, because it cannot read a stream,
 * does not check addresses, and refuses `PROXY UNKNOWN`.
 */
export interface ProxyHeader {
  /** Length of the header, bytes. The client's data follows. */
  readonly length: number
  /** Address of the client; undefined if the header has none, or if the proxy itself is the client, as in a health check. */
  readonly address: string | undefined
}

/** Maximum length of a version 1 header, bytes, including CRLF (section 2.1). */
const longestLine = 107
/** Maximum accepted length of a version 2 header, bytes. Version 2 allows 64 KiB, but proxies send at most a few hundred bytes. */
const longestBinary = 4_096

const textSignature = Buffer.from('PROXY ')
const binarySignature = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1')
/** Length of the fixed fields, bytes: signature, version and command, family and transport, and length. */
const binaryFixed = 16

/** @returns undefined if the header is not complete yet @throws Error if it is malformed */
export function parseProxyHeader(received: Buffer): ProxyHeader | undefined {
  if (beginsAs(received, textSignature)) return parseLine(received)
  if (beginsAs(received, binarySignature)) return parseBinary(received)
  throw malformed('signature')
}

/** Whether the bytes begin with the signature, or the signature begins with the bytes. */
function beginsAs(received: Buffer, signature: Buffer): boolean {
  const length = Math.min(received.length, signature.length)
  return received.compare(signature, 0, length, 0, length) === 0
}

const decimal = '(0|[1-9][0-9]{0,4})'
const lineForm = new RegExp(`^PROXY (?:UNKNOWN(?: .*)?|(TCP[46]) (\\S+) (\\S+) ${decimal} ${decimal})$`)

/** Parses a header of version 1 (section 2.1). */
function parseLine(received: Buffer): ProxyHeader | undefined {
  const text = received.toString('latin1', 0, longestLine)
  const end = text.indexOf('\r\n')
  if (end === -1) {
    if (received.length >= longestLine) throw malformed('line')
    return undefined
  }
  const match = lineForm.exec(text.slice(0, end))
  if (!match) throw malformed('line')
  const length = end + 2
  const [, protocol, source = '', destination = '', ...ports] = match
  if (protocol === undefined) return { length, address: undefined }
  const isOfFamily = protocol === 'TCP4' ? isIPv4 : isPlainIPv6
  if (!isOfFamily(source) || !isOfFamily(destination)) throw malformed('address')
  if (ports.some(port => Number(port) > 65_535)) throw malformed('port')
  return { length, address: source }
}

function isPlainIPv6(text: string): boolean {
  return isIPv6(text) && !text.includes('%')
}

/** Parses a header of version 2 (section 2.2). Skips the extensions after the addresses. */
function parseBinary(received: Buffer): ProxyHeader | undefined {
  if (received.length < binaryFixed) return undefined
  const [versionAndCommand = 0, familyAndTransport = 0] = received.subarray(12)
  const length = binaryFixed + received.readUInt16BE(14)
  if (versionAndCommand !== 0x20 && versionAndCommand !== 0x21) throw malformed('version or command')
  if (length > longestBinary) throw malformed('length')
  // 0x20 is version 2 with the command LOCAL, for which the family must be ignored.
  const source = versionAndCommand === 0x20 ? unknownSource : sources.get(familyAndTransport)
  if (source === undefined) throw malformed('family or transport')
  if (length < binaryFixed + source.addressesLength) throw malformed('length')
  if (received.length < length) return undefined
  return { length, address: source.addressOf(received.subarray(binaryFixed)) }
}

interface Source {
  /** Length of both addresses and both ports, bytes. */
  readonly addressesLength: number
  addressOf(addresses: Buffer): string | undefined
}

const unknownSource: Source = { addressesLength: 0, addressOf: () => undefined }

/** Sources by the byte of family and transport. `addressOf` returns undefined for transports that do not carry MQTT. */
const sources: ReadonlyMap<number, Source> = new Map([
  [0x00, unknownSource],
  [0x11, { addressesLength: 12, addressOf: addresses => addresses.subarray(0, 4).join('.') }],
  [0x12, { ...unknownSource, addressesLength: 12 }],
  [0x21, { addressesLength: 36, addressOf: addresses => textOfIPv6(addresses.subarray(0, 16)) }],
  [0x22, { ...unknownSource, addressesLength: 36 }],
  [0x31, { ...unknownSource, addressesLength: 216 }],
  [0x32, { ...unknownSource, addressesLength: 216 }],
])

/** An IPv6 address as text in the form of RFC 5952. */
function textOfIPv6(bytes: Buffer): string {
  const groups = Array.from({ length: 8 }, (_, group) => bytes.readUInt16BE(2 * group).toString(16))
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)
}

function malformed(what: string): Error {
  return new Error(`malformed PROXY protocol header: its ${what} is invalid`)
}
