import type { Reason } from '../../errors.ts'
import { orIfRefused, type ServerClient } from '../client/client.ts'
import { counted } from '../output.ts'
import { adviceFor } from './advice.ts'
import { type Finding, fault, note, ok } from './finding.ts'

const kindsShown = 5
/** Reasons for which a connection, not a write, was refused. */
const ofConnections: ReadonlySet<string> = new Set<Reason>([
  'connect_refused',
  'subscription_refused',
  'connection_closed',
  'client_id_shared',
])

interface ListedRefusal {
  readonly datetime: string
  readonly door: string
  readonly reason: string
  readonly message: string
  readonly count?: number
  readonly excerpt: string
}

/**
 * A finding for each kind of refused write, and for each cause of rejected connections. A refusal that is older than the newest
 * record is only a note, since a later write has succeeded.
 *
 * @param newest datetime of the newest record, milliseconds since the epoch
 * @param relayed if the thing has topics of §7.10, and so may write no records: when it was last seen, milliseconds since the epoch
 */
export async function refusedWriteFindings(
  client: ServerClient,
  thingId: string,
  newest = Number.NEGATIVE_INFINITY,
  relayed = Number.NEGATIVE_INFINITY,
): Promise<Finding[]> {
  // The server returns the newest refusals first.
  const asked = client.call<ListedRefusal[]>(`/v2/things/${thingId}/errors`)
  const list = await orIfRefused(asked, 403, undefined)
  if (list === undefined) return [ok('refused writes', 'a read session may not see them')]
  if (list.length === 0) return [ok('refused writes', 'none')]
  const kinds = new Map<string, ListedRefusal[]>()
  for (const refusal of list) {
    const { door, reason, message } = refusal
    const kind = JSON.stringify([door, reason, message])
    kinds.set(kind, [...(kinds.get(kind) ?? []), refusal])
  }
  const shown = [...kinds.values()].slice(0, kindsShown).map(kind => finding(kind, newest, relayed))
  const hidden = kinds.size - shown.length
  if (hidden === 0) return shown
  const advice = 'fix these first; the page of the thing shows all refused writes'
  return [...shown, note('refused writes', `${counted(hidden, 'other kind')}, all older`, advice)]
}

function finding(kind: readonly ListedRefusal[], newest: number, relayed: number): Finding {
  const [last] = kind
  if (!last) return ok('refused write', 'none')
  const { datetime, door, reason, message, excerpt } = last
  const count = kind.reduce((sum, refusal) => sum + (refusal.count ?? 1), 0)
  const times = count === 1 ? '' : `${count} times, last `
  const isStored = Date.parse(datetime) < newest
  const isOver = isStored || (reason === 'not_a_write_topic' && Date.parse(datetime) < relayed)
  const since = isStored ? ', and records were stored since' : ', and the thing was seen since'
  const when = `${times}${datetime} over ${door}${isOver ? since : ''}`
  const shown = excerpt === '' ? '' : `: ${excerpt}`
  const title = ofConnections.has(reason) ? 'turned away' : 'refused write'
  return (isOver ? note : fault)(title, `${when}: ${message} (${reason})${shown}`, adviceFor(last))
}
