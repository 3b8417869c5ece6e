import { listNames } from '../../core/list-documents.ts'
import type { Document, DocumentPut, DocumentStore } from '../../core/ports.ts'
import {
  clientIdOfQueued,
  type MessageDocument,
  type OwedDocument,
  placeText,
  placeTextIn,
  topicMessagePrefix,
  topicQueueOf,
  topicQueuePrefix,
} from '../../mqtt/relay/documents.ts'

/**
 * Makes of what sessions are owed in a store of an older format what the relay reads. Before format 4 (3 in Redis) each session had
 * a copy of the message, under a name without its size.
 *
 * @throws ThingwireError of the store
 */
export async function splitCopies(documents: DocumentStore): Promise<void> {
  for await (const name of listNames(documents, topicQueuePrefix)) {
    const [order = '', brokerId = '', bytes] = placeTextIn(name).split('.')
    if (bytes !== undefined) continue
    const copy = await documents.get(name)
    if (copy)
      await documents.put(
        { [name]: null, ...split(copy, clientIdOfQueued(name), order, brokerId) },
        'essential',
      )
  }
}

function split(copy: Document, clientId: string, order: string, brokerId: string): DocumentPut {
  const { topic, payload, ...owed } = copy as MessageDocument & OwedDocument
  const bytes = Buffer.byteLength(topic) + Buffer.byteLength(payload, 'base64')
  const place = placeText({ order: Number(order), brokerId, bytes })
  const message: MessageDocument = { topic, payload }
  // The client has it: its payload was dropped.
  const isHeld = owed.isReceived === true
  return {
    ...(!isHeld && { [topicMessagePrefix + place]: message }),
    [topicQueueOf(clientId) + place]: owed,
  }
}
