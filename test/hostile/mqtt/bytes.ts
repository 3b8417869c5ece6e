/** Builds MQTT packets byte by byte, right ones and wrong ones. */

export type Bytes = Uint8Array | readonly number[]

/** Stands for a secret of its length, which is put in its place when a case is played. */
export const token = 'T'.repeat(43)
/** Stands for the thing id of that token. */
export const thingId = 'i'.repeat(16)
/** Stands for the thing id of another thing. */
export const otherId = 'j'.repeat(16)

export const writeTopic = `things/${token}/write`
export const goodWrite = '{"values":[{"key":"hostile","value":1}]}'

/** Packet types of acknowledgements. */
export const types = { puback: 4, pubrec: 5, pubrel: 6, pubcomp: 7 } as const

export function join(...parts: readonly Bytes[]): Buffer {
  return Buffer.concat(parts.map(part => Buffer.from(part)))
}

/** Two bytes. */
export function number16(value: number): Bytes {
  return [value >> 8, value & 0xff]
}

/** Bytes with their length in front. @param length what is announced; default: the right one */
export function binary(value: string | Bytes, length?: number): Buffer {
  const bytes = Buffer.from(value as string)
  return join(number16(length ?? bytes.length), bytes)
}

/** A length as the fixed header has it. */
export function lengthBytes(length: number): Bytes {
  const bytes: number[] = []
  let rest = length
  for (; rest > 127; rest >>>= 7) bytes.push((rest & 127) | 128)
  return [...bytes, rest]
}

/** A packet with the right length. */
export function packet(firstByte: number, ...body: readonly Bytes[]): Buffer {
  const content = join(...body)
  return join([firstByte], lengthBytes(content.length), content)
}

/** A packet that announces another length than it has. */
export function misannounced(bytes: Buffer, by: number): Buffer {
  const [firstByte = 0] = bytes
  const start = bytes.findIndex((byte, place) => place > 0 && byte < 128) + 1
  const content = bytes.subarray(start)
  return join([firstByte], lengthBytes(content.length + by), content)
}

/** The packet with other flags in its first byte. */
export function withFlags(good: Buffer, flags: number): Buffer {
  const [firstByte = 0] = good
  return join([(firstByte & 0xf0) | flags], good.subarray(1))
}

export interface Connect {
  readonly name?: string | Bytes
  readonly level?: number
  /** Default: those that go with the fields, and clean session. */
  readonly flags?: number
  readonly keepAlive?: number
  readonly clientId?: string | Bytes
  readonly will?: { readonly topic: string | Bytes; readonly payload?: string | Bytes; readonly qos?: number }
  readonly username?: string | Bytes
  readonly password?: string | Bytes
  /** Bytes behind the last field. */
  readonly rest?: Bytes
}

/** By default the CONNECT of a thing. */
export function connect(options: Connect = {}): Buffer {
  const { name = 'MQTT', level = 4, keepAlive = 0, clientId = '', will, username = token } = options
  const { password, flags = flagsOf(options), rest = [] } = options
  return packet(
    0x10,
    binary(name),
    [level, flags],
    number16(keepAlive),
    binary(clientId),
    will ? join(binary(will.topic), binary(will.payload ?? goodWrite)) : [],
    binary(username),
    password === undefined ? [] : binary(password),
    rest,
  )
}

export const connectFlags = {
  clean: 0x02,
  will: 0x04,
  willRetain: 0x20,
  password: 0x40,
  username: 0x80,
} as const

function flagsOf({ will, password }: Connect): number {
  const { clean, will: willFlag, password: passwordFlag, username } = connectFlags
  const ofWill = will ? willFlag | ((will.qos ?? 0) << 3) : 0
  return username | clean | ofWill | (password === undefined ? 0 : passwordFlag)
}

/** A CONNECT without username and password. */
export const connectAnonymous = packet(0x10, binary('MQTT'), [4, connectFlags.clean], number16(0), binary(''))

export interface Publish {
  readonly topic?: string | Bytes
  readonly payload?: string
  readonly qos?: 0 | 1 | 2
  readonly packetId?: number
  readonly isRetained?: boolean
}

export function publish(options: Publish = {}): Buffer {
  const { topic = writeTopic, payload = goodWrite, qos = 1, packetId = 7, isRetained = false } = options
  const id = qos === 0 ? [] : number16(packetId)
  return packet(0x30 | (qos << 1) | Number(isRetained), binary(topic), id, Buffer.from(payload))
}

/** @param filters with the requested QoS, if it is not 1 */
export function subscribe(...filters: readonly (string | Bytes | readonly [string, number])[]): Buffer {
  const asked = filters.map(filter => {
    const [text, qos] = Array.isArray(filter) && typeof filter[0] === 'string' ? filter : [filter, 1]
    return join(binary(text as string), [Number(qos)])
  })
  return packet(0x82, number16(7), ...asked)
}

export function unsubscribe(...filters: readonly (string | Bytes)[]): Buffer {
  return packet(0xa2, number16(7), ...filters.map(filter => binary(filter)))
}

/** PUBACK and its like. */
export function acknowledge(type: number, packetId = 7): Buffer {
  return packet((type << 4) | (type === types.pubrel ? 2 : 0), number16(packetId))
}

export const pingreq = packet(0xc0)
export const disconnect = packet(0xe0)
