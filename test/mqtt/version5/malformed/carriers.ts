import { type Bytes, connectHead, credentials, field, packet, topic, two, variable } from './bytes.ts'
import { acceptance, alone, type Case, type Code, first, later, refusal } from './case.ts'

/** What carries properties that a client sends (table 2-4). */
export type CarrierName =
  | 'CONNECT'
  | 'will'
  | 'PUBLISH'
  | 'PUBACK'
  | 'PUBREC'
  | 'PUBREL'
  | 'PUBCOMP'
  | 'SUBSCRIBE'
  | 'UNSUBSCRIBE'
  | 'DISCONNECT'
  | 'AUTH'

export interface Carrier {
  readonly name: CarrierName
  readonly firstByte: number
  /** What is in front of the length of the properties. */
  readonly before: Bytes
  /** What is behind the properties. */
  readonly behind: Bytes
  /** What the client gets for it if nothing is wrong. */
  readonly accepted: string
}

const id = two(1)
const emptyId = field('')

export const carriers: readonly Carrier[] = [
  {
    name: 'CONNECT',
    firstByte: 0x10,
    before: connectHead(0xc2),
    behind: [...emptyId, ...credentials],
    accepted: acceptance('CONNACK 0x00'),
  },
  {
    name: 'will',
    firstByte: 0x10,
    before: [...connectHead(0xce), 0, ...emptyId],
    behind: [...field(topic), ...field('gone'), ...credentials],
    accepted: acceptance('CONNACK 0x00'),
  },
  {
    name: 'PUBLISH',
    firstByte: 0x32,
    before: [...field(topic), ...id],
    behind: [120],
    accepted: acceptance('PUBACK'),
  },
  { name: 'PUBACK', firstByte: 0x40, before: [...id, 0], behind: [], accepted: acceptance() },
  { name: 'PUBREC', firstByte: 0x50, before: [...id, 0x80], behind: [], accepted: acceptance() },
  { name: 'PUBREL', firstByte: 0x62, before: [...id, 0], behind: [], accepted: acceptance('PUBCOMP') },
  { name: 'PUBCOMP', firstByte: 0x70, before: [...id, 0], behind: [], accepted: acceptance() },
  {
    name: 'SUBSCRIBE',
    firstByte: 0x82,
    before: id,
    behind: [...field('tele/none'), 1],
    accepted: acceptance('SUBACK'),
  },
  {
    name: 'UNSUBSCRIBE',
    firstByte: 0xa2,
    before: id,
    behind: field('tele/none'),
    accepted: acceptance('UNSUBACK'),
  },
  { name: 'DISCONNECT', firstByte: 0xe0, before: [0], behind: [], accepted: 'FIN' },
  // Without an authentication method it is a protocol error, whatever is in it (MQTT-4.12.0-7).
  { name: 'AUTH', firstByte: 0xf0, before: [0x18], behind: [], accepted: refusal(0x82) },
]

/** A packet with these properties. @param length of them as it is written; default: the true one */
export function carry({ firstByte, before, behind }: Carrier, properties: Bytes, length?: Bytes): Buffer {
  return packet(firstByte, before, length ?? variable(properties.length), properties, behind)
}

/** @param code with which the packet is refused; undefined: it is accepted */
export function caseOf(carrier: Carrier, name: string, bytes: Buffer, code: Code | undefined): Case {
  const isFirst = carrier.firstByte === 0x10
  const title = `${carrier.name}: ${name}`
  if (code === undefined && carrier.name === 'DISCONNECT') return alone(title, bytes, carrier.accepted)
  // An AUTH that is malformed as well is a protocol error before.
  const isAuth = carrier.name === 'AUTH'
  const outcome = code === undefined || isAuth ? carrier.accepted : refusal(code, isFirst)
  return isFirst ? first(title, bytes, outcome) : later(title, bytes, outcome)
}
