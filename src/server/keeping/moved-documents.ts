import type { Document } from '../../core/ports.ts'
import { forwardPrefix } from '../../forward/progress.ts'
import { epochsName } from '../../live/streams/event-ids.ts'
import { streamPrefix } from '../../live/streams/own-stream-log.ts'
import { type AppliedMark, isAppliedMark, movedMark } from '../../magic/applied-marks.ts'
import { sessionPrefix } from '../../mqtt/relay/documents.ts'
import { type MqttSessionDocument, movedSession } from '../../mqtt/sessions/session-documents.ts'

/**
 * What becomes of a document of the embedded store in Redis, where write numbers are others: those that it holds are
 * translated. Event ids are not moved, so that a stream that is resumed over the move is told `reset`. Nor is the position of
 * forwarding, which needs the embedded store.
 *
 * @param numberOf what becomes of a write number
 * @returns undefined: it stays behind
 */
export function movedDocument(
  name: string,
  document: Document,
  numberOf: (writeNumber: number) => number,
): Document | undefined {
  if (name === epochsName || name.startsWith(streamPrefix) || name.startsWith(forwardPrefix)) return undefined
  if (isAppliedMark(name)) return movedMark(document as AppliedMark, numberOf)
  if (name.startsWith(sessionPrefix)) return movedSession(document as MqttSessionDocument, numberOf)
  return document
}
