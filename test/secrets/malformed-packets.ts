import { lengthBytes } from '../../src/mqtt/packets/properties.ts'

const text = (...parts: (string | Buffer)[]) =>
  Buffer.concat(
    parts.map(part => {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(Buffer.byteLength(part))
      return Buffer.concat([length, Buffer.from(part)])
    }),
  )

/** Bytes behind their length. */
function counted(...parts: Buffer[]): Buffer {
  const bytes = Buffer.concat(parts)
  return Buffer.concat([lengthBytes(bytes.length), bytes])
}

const packet = (first: number, ...rest: Buffer[]) => Buffer.concat([Buffer.of(first), counted(...rest)])

const connect = (flags: number, level: number, ...texts: string[]) =>
  packet(0x10, text('MQTT'), Buffer.from([level, flags, 0, 0]), text(...texts))

type Packets = Readonly<Record<string, (secret: string) => Buffer>>

/** Bytes that are no MQTT 3.1.1. */
const of3: Packets = {
  'as protocol': s => packet(0x10, text(s), Buffer.from([4, 2, 0, 0]), text(s)),
  'in a CONNECT of version 5': s => connect(0xc2, 5, s, s, s),
  'in a CONNECT of no version': s => connect(0xc2, 77, s, s, s),
  'as a password without a username': s => connect(0x42, 4, 'x', s),
  'behind a CONNECT': s => Buffer.concat([connect(0x02, 4, s), Buffer.from(s)]),
  'in a will of QoS 3': s => connect(0xde, 4, s, `things/${s}/write`, s, s, s),
  'in a topic that is no UTF-8': s => {
    const topic = Buffer.concat([Buffer.from(`things/${s}/`), Buffer.from([0xff, 0xfe])])
    return Buffer.concat([connect(0x82, 4, 'x', s), packet(0x30, text(topic), Buffer.from(s))])
  },
  'in a topic with a NUL': s =>
    Buffer.concat([connect(0x82, 4, 'x', s), packet(0x30, text(`things/${s}/\0`), Buffer.from(s))]),
  'in a PUBLISH with packet id 0': s =>
    Buffer.concat([connect(0x82, 4, 'x', s), packet(0x32, text(`things/${s}/write`), Buffer.from([0, 0]))]),
  'in a SUBSCRIBE with reserved bits': s =>
    Buffer.concat([connect(0x82, 4, 'x', s), packet(0x80, Buffer.from([0, 1]), text(s), Buffer.from([0]))]),
  'as HTTP on the port of MQTT': s =>
    Buffer.from(`GET /v2/things/${s} HTTP/1.1\r\nAuthorization: ${s}\r\n\r\n`),
}

/** A CONNECT of version 5 with these properties. */
const connect5 = (flags: number, properties: Buffer[], ...rest: Buffer[]) =>
  packet(0x10, text('MQTT'), Buffer.from([5, flags, 0, 0]), counted(...properties), ...rest)

/** Behind the CONNECT of an anonymous client. */
const behind5 = (first: number, ...rest: Buffer[]) =>
  Buffer.concat([connect5(0x02, [], text('x')), packet(first, ...rest)])

const property = (id: number, ...texts: (string | Buffer)[]) => Buffer.concat([Buffer.of(id), text(...texts)])
const ids = { contentType: 3, responseTopic: 8, authenticationMethod: 21, serverReference: 28, user: 38 }
const noUtf8 = (secret: string) => Buffer.concat([Buffer.from(secret), Buffer.from([0xff, 0xfe])])
const anyId = Buffer.from([0, 7])
const none = counted()

/** Bytes that are no MQTT 5. */
const of5: Packets = {
  'in an unknown property of CONNECT': s => connect5(0xc2, [property(0x7e, s)], text(s, s, s)),
  'in a property that CONNECT has not': s => connect5(0xc2, [property(ids.contentType, s)], text(s, s, s)),
  'in a property that CONNECT has twice': s => {
    const method = property(ids.authenticationMethod, s)
    return connect5(0xc2, [method, method], text(s, s, s))
  },
  'in a User Property that is no UTF-8': s =>
    connect5(0xc2, [property(ids.user, s, noUtf8(s))], text(s, s, s)),
  'in a User Property that is cut': s => connect5(0xc2, [property(ids.user, s)], text(s, s, s)),
  'as a password without a username in 5': s => connect5(0x42, [], text('x', s)),
  'in the topic of a will with a wildcard': s =>
    connect5(0xce, [], text('x'), none, text(`things/${s}/+`, s, 'x', s)),
  'in a will with a property that is no will’s': s =>
    connect5(0xce, [], text('x'), counted(property(ids.authenticationMethod, s)), text(s, s, 'x', s)),
  'in an unknown property of PUBLISH': s => behind5(0x30, text(s), counted(property(0x7e, s)), text(s)),
  'in a Response Topic with a wildcard': s =>
    behind5(0x30, text(`things/${s}/write`), counted(property(ids.responseTopic, `things/${s}/answers/#`))),
  'in a Content Type that is there twice': s => {
    const type = property(ids.contentType, s)
    return behind5(0x30, text(`things/${s}/write`), counted(type, type))
  },
  'in a Content Type that is no UTF-8': s =>
    behind5(0x30, text(`things/${s}/write`), counted(property(ids.contentType, noUtf8(s)))),
  'in a topic with the alias 0': s => behind5(0x30, text(s), counted(Buffer.from([35, 0, 0])), text(s)),
  'in a topic with an alias over the maximum': s =>
    behind5(0x30, text(s), counted(Buffer.from([35, 0, 17])), text(s)),
  'behind an unknown alias': s => behind5(0x30, text(''), counted(Buffer.from([35, 0, 5])), text(s)),
  'in a filter with reserved options': s => behind5(0x82, anyId, none, text(s), Buffer.of(0xff)),
  'in a shared filter with No Local': s => behind5(0x82, anyId, none, text(`$share/${s}/x`), Buffer.of(0x04)),
  'in a DISCONNECT with the Server Reference': s =>
    behind5(0xe0, Buffer.of(0x9c), counted(property(ids.serverReference, s))),
  'in a DISCONNECT with bytes behind it': s => behind5(0xe0, Buffer.of(0), none, text(s)),
  'in an AUTH': s => behind5(0xf0, Buffer.of(0x18), counted(property(ids.authenticationMethod, s))),
}

/** What is malformed in each version. */
export const malformedPackets = { 4: Object.entries(of3), 5: Object.entries(of5) }
