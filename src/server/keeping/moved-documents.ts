import type { Document } from '../../core/ports.ts'
import { type SessionDocument, sessionPrefix } from '../../mqtt/session-documents.ts'
import type { Position } from '../../mqtt/unacked.ts'

/**
 * What becomes of a document of the embedded store in Redis, where write numbers are others: those that it holds are
 * translated. Positions of event streams are not moved, so that a stream that is resumed over the move is told `reset`.
 *
 * @param numberOf what becomes of a write number
 * @returns undefined: it stays behind
 */
export function movedDocument(
  name: string,
  document: Document,
  numberOf: (writeNumber: number) => number,
): Document | undefined {
  if (name === 'streams-runs' || name.startsWith('streams/')) return undefined
  if (name === 'magic/applied' || name.startsWith('magic/applied/')) {
    return { ...document, writeNumber: numberOf(Number(document.writeNumber)) }
  }
  if (name.startsWith(sessionPrefix)) return movedSession(document as SessionDocument, numberOf)
  return document
}

function movedSession(session: SessionDocument, numberOf: (writeNumber: number) => number): SessionDocument {
  const moved = ({ writeNumber, place }: Position): Position => ({
    writeNumber: numberOf(writeNumber),
    place,
  })
  return {
    ...session,
    acked: moved(session.acked),
    sent: session.sent.map(each => ({ ...each, position: moved(each.position) })),
    subscriptions: session.subscriptions.map(({ owedRetained, ...subscription }) => ({
      ...subscription,
      from: numberOf(subscription.from),
      ...(owedRetained === undefined ? {} : { owedRetained: numberOf(owedRetained) }),
    })),
  }
}
