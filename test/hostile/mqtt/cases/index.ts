import type { MqttCase } from '../case.ts'
import { connects } from './connect.ts'
import { filters } from './filters.ts'
import { firstBytes } from './first-bytes.ts'
import { lengths } from './lengths.ts'
import { oldProtocol } from './old-protocol.ts'
import { order } from './order.ts'
import { otherTopics } from './other-topics.ts'
import { packetIds } from './packet-ids.ts'
import { protocol } from './protocol.ts'
import { texts } from './text.ts'
import { topics } from './topics.ts'

/** The hostile table of the MQTT door, by what is wrong. */
export const hostileCases: Readonly<Record<string, readonly MqttCase[]>> = {
  'protocol names and levels': protocol,
  'a CONNECT': connects,
  'MQTT 3.1': oldProtocol,
  text: texts,
  'first bytes': firstBytes,
  'the order of packets': order,
  lengths: lengths,
  'packet identifiers': packetIds,
  filters: filters,
  topics: topics,
  'other topics': otherTopics,
}
