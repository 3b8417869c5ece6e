import type { MqttCase } from '../case.ts'
import { connects, oldProtocol, protocol } from './connects.ts'
import { firstBytes, lengths, order, packetIds } from './packets.ts'
import { filters, otherTopics, texts, topics } from './topics.ts'

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
