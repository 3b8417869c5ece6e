import type { Principal } from '../../access/principal.ts'
import type { Ingest } from '../../core/ingest.ts'
import { LockLost } from '../../core/locks.ts'
import { ThingwireError } from '../../errors.ts'
import type { Connection, ConnectionEnd } from '../connection/connection.ts'
import type { ConnectRefused } from '../packets/outcomes.ts'

/** A takeover is quick if it comes within this time after the old connection was opened, milliseconds. */
const quickTurn = 10_000
const reportedFrom = 3
const minute = 60_000
/** Maximum number of clients that are watched for quick takeovers. */
const mostClients = 10_000

/** Lists for each thing why its connections were refused or closed (contract §6.3), since MQTT 3.1.1 cannot send the reason. */
export class RejectedConnections {
  readonly #ingest: Pick<Ingest, 'noteRejected'>
  /** Times of quick takeovers, by name of the client's lock; clock of `performance.now()`, milliseconds. */
  readonly #takenOver = new Map<string, readonly number[]>()

  constructor(ingest: Pick<Ingest, 'noteRejected'>) {
    this.#ingest = ingest
  }

  refused(connection: Connection, refusal: ConnectRefused): void {
    // Neither is the client's fault.
    if (refusal.why === 'unavailable' || refusal.why === 'replaced') return
    const text = `CONNACK ${connection.codec.refusalCode(refusal)}: ${refusal.message}`
    this.#report(connection, new ThingwireError('connect_refused', text))
  }

  /** @param error the error that closed the connection, if any */
  closed(connection: Connection, error: Error | null): void {
    if (!error || isIntended(connection.end) || isOfPeer(error) || isOfStore(error)) return
    const reported =
      error instanceof ThingwireError ? error : new ThingwireError('connection_closed', error.message)
    this.#report(connection, reported)
  }

  /** Call this when another connection has taken over the client. @param client name of the client's lock */
  replaced(connection: Connection, client: string): void {
    const now = performance.now()
    if (connection.isClosed || now - connection.openedAt > quickTurn) return
    const times = [...(this.#takenOver.get(client) ?? []).filter(time => now - time < minute), now]
    this.#takenOver.delete(client)
    this.#takenOver.set(client, times.slice(-reportedFrom))
    for (const [oldest] of this.#takenOver) {
      if (this.#takenOver.size <= mostClients) break
      this.#takenOver.delete(oldest)
    }
    if (times.length < reportedFrom) return
    const clientId = connection.admission?.givenClientId ?? ''
    const text = `several connections with the client id \`${clientId}\` keep disconnecting each other: give each device its own client id`
    this.#report(connection, new ThingwireError('client_id_shared', text))
  }

  #report(connection: Connection, error: ThingwireError): void {
    const thingId = thingOf(connection)
    if (thingId !== undefined) this.#ingest.noteRejected(thingId, error)
  }
}

/** The thing, or the source, that a connection writes for; undefined if the connection writes for no thing or for several things. */
export function thingOf({ principal, locksOfThings }: Connection): string | undefined {
  if (principal) return thingOfPrincipal(principal)
  const [thingId, ...others] = locksOfThings?.keys() ?? []
  return others.length === 0 ? thingId : undefined
}

function thingOfPrincipal(principal: Principal): string | undefined {
  if (principal.kind === 'thing') return principal.thingId
  // The list of a source is kept like that of a thing.
  if (principal.kind === 'source') return principal.sourceId
  if (principal.kind === 'admin' || principal.things === '*' || principal.access === 'read') return undefined
  const [thingId, ...others] = principal.things
  return others.length === 0 ? thingId : undefined
}

const intended: ReadonlySet<ConnectionEnd> = new Set([
  'disconnect',
  'disconnect_with_will',
  'replaced',
  'stopping',
  'revoked',
  'topics_withdrawn',
])

/** Whether the client, its next connection or the operator has ended the connection. */
function isIntended(end: ConnectionEnd | undefined): boolean {
  return end !== undefined && intended.has(end)
}

/** Whether the network failed or the client closed the connection. Only errors of sockets and WebSockets have a code. */
function isOfPeer(error: Error): boolean {
  return 'code' in error
}

/** Whether the store has failed, which `/readyz` reports, or the lock was lost. Neither is the client's fault. */
function isOfStore(error: Error): boolean {
  return error instanceof LockLost || (error instanceof ThingwireError && error.status === 503)
}
