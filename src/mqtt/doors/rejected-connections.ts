import type { Principal } from '../../access/principal.ts'
import type { Ingest } from '../../core/ingest.ts'
import { LockLost } from '../../core/locks.ts'
import { ThingwireError } from '../../errors.ts'
import type { ConnectRefused } from '../connection/admission.ts'
import type { Connection } from '../connection/connection.ts'

/** Milliseconds. A client is reported that is taken over this soon after its CONNECT, `reportedFrom` times in a minute. */
const quickTurn = 10_000
const reportedFrom = 3
const minute = 60_000
/** Most clients that are watched for quick takeovers. */
const mostClients = 10_000

/** Lists in a thing why its connections were refused or closed (contract §6.3), since MQTT 3.1.1 gives a client no reason. */
export class RejectedConnections {
  readonly #ingest: Pick<Ingest, 'noteRejected'>
  /** Times of quick takeovers by name of the client's lock, on the clock of `performance.now()`. */
  readonly #takenOver = new Map<string, readonly number[]>()

  constructor(ingest: Pick<Ingest, 'noteRejected'>) {
    this.#ingest = ingest
  }

  refused(connection: Connection, { returnCode, message }: ConnectRefused): void {
    // The store is away, so it cannot list anything.
    if (returnCode === 3) return
    this.#report(connection, new ThingwireError('connect_refused', `CONNACK ${returnCode}: ${message}`))
  }

  /** @param error that closed the connection, if any */
  closed(connection: Connection, error: Error | null): void {
    if (!error || connection.end || isOfPeer(error) || isOfStore(error)) return
    const reported =
      error instanceof ThingwireError ? error : new ThingwireError('connection_closed', error.message)
    this.#report(connection, reported)
  }

  /** Another connection has taken the client over. @param client name of its lock */
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

/** The single thing that a connection writes for; undefined: none, several, or it may only read. */
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

/** Errors of sockets and WebSockets have a code: the link broke, or the client closed it. */
function isOfPeer(error: Error): boolean {
  return 'code' in error
}

/** A failure of the store is not the client's fault; `/readyz` reports it. */
function isOfStore(error: Error): boolean {
  return error instanceof LockLost || (error instanceof ThingwireError && error.status === 503)
}
