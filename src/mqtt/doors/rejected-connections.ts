import type { Principal } from '../../access/principal.ts'
import type { Ingest } from '../../core/ingest.ts'
import { LockLost } from '../../core/locks.ts'
import { ThingwireError } from '../../errors.ts'
import type { ConnectRefused } from '../connection/admission.ts'
import type { Connection } from '../connection/connection.ts'

/** Milliseconds; a client that is taken over this soon after it connected, this often in a minute, is reported. */
const quickTurn = 10_000
const reportedFrom = 3
const minute = 60_000
/** Clients that are watched for that. */
const mostClients = 10_000

/** Lists on a thing why connections of it are turned away (contract §6.3): over MQTT, the client itself hears no reason. */
export class RejectedConnections {
  readonly #ingest: Pick<Ingest, 'noteRejected'>
  /** By name of the client's lock, when it was taken over in quick turn, on the clock of `performance.now()`. */
  readonly #takenOver = new Map<string, readonly number[]>()

  constructor(ingest: Pick<Ingest, 'noteRejected'>) {
    this.#ingest = ingest
  }

  /** Its CONNECT is answered with a refusal. */
  refused(connection: Connection, { returnCode, message }: ConnectRefused): void {
    // The store is away, and cannot list anything.
    if (returnCode === 3) return
    this.#report(connection, new ThingwireError('connect_refused', `CONNACK ${returnCode}: ${message}`))
  }

  /** It is gone. @param error for which it was closed, if any */
  closed(connection: Connection, error: Error | null): void {
    if (!error || connection.end || isOfPeer(error) || isOfStore(error)) return
    const reported =
      error instanceof ThingwireError ? error : new ThingwireError('connection_closed', error.message)
    this.#report(connection, reported)
  }

  /** Another connection has taken its client over, while it was still open. @param client the name of its lock */
  replaced(connection: Connection, client: string): void {
    const now = performance.now()
    if (connection.socket.destroyed || now - connection.openedAt > quickTurn) return
    const times = [...(this.#takenOver.get(client) ?? []).filter(time => now - time < minute), now]
    this.#takenOver.delete(client)
    this.#takenOver.set(client, times.slice(-reportedFrom))
    for (const [oldest] of this.#takenOver) {
      if (this.#takenOver.size <= mostClients) break
      this.#takenOver.delete(oldest)
    }
    if (times.length < reportedFrom) return
    const clientId = connection.admission?.givenClientId ?? ''
    const text = `connections with the client id \`${clientId}\` take it from each other: give each device one of its own`
    this.#report(connection, new ThingwireError('client_id_shared', text))
  }

  #report(connection: Connection, error: ThingwireError): void {
    const thingId = thingOf(connection)
    if (thingId !== undefined) this.#ingest.noteRejected(thingId, error)
  }
}

/** The one thing that a connection writes for; undefined: none or several, or it may only read. */
export function thingOf({ principal, locksOfThings }: Connection): string | undefined {
  if (principal) return thingOfPrincipal(principal)
  const [thingId, ...others] = locksOfThings?.keys() ?? []
  return others.length === 0 ? thingId : undefined
}

function thingOfPrincipal(principal: Principal): string | undefined {
  if (principal.kind === 'thing') return principal.thingId
  if (principal.kind === 'admin' || principal.things === '*' || principal.access === 'read') return undefined
  const [thingId, ...others] = principal.things
  return others.length === 0 ? thingId : undefined
}

/** Errors of sockets and of WebSockets have a code: the link broke, or the client closed it. */
function isOfPeer(error: Error): boolean {
  return 'code' in error
}

/** A failure of the store is no fault of the client, and shows at `/readyz`. */
function isOfStore(error: Error): boolean {
  return error instanceof LockLost || (error instanceof ThingwireError && error.status === 503)
}
