/** How far forwarding to a central server has come, for the operator. Has no credential. */
export interface ForwardReport {
  /** URL of the central server. */
  readonly target: string
  /** Whether a connection to it is open now. */
  readonly isConnected: boolean
  /** Why there is none, where it could not be made. */
  readonly problem?: string
  /** Why a changed thing map is not used, for which the one from before is. */
  readonly mapProblem?: string
  /** What is not acknowledged there yet; of a backlog from before the start only as far as it was counted (`isCounted`). */
  readonly waiting: { readonly records: number; readonly bytes: number }
  readonly isCounted: boolean
  /** Receipt time of the oldest record that waits, milliseconds; absent: none does. */
  readonly oldest?: number
  /** Since the start of this process. */
  readonly forwarded: { readonly records: number; readonly bytes: number }
  /** Records that the central server has refused for good, since forwarding began. */
  readonly refusedCount: number
  /** Records that were given up since too many waited, since forwarding began. */
  readonly dropped: number
  /** Things that are held back while the others go on, by thing id. */
  readonly held: readonly HeldThing[]
  /** The newest of the refused records, newest first. */
  readonly refused: readonly RefusedRecord[]
}

/** A thing whose records wait since the central server does not take its token. */
interface HeldThing {
  readonly thingId: string
  readonly why: string
  /** Milliseconds. */
  readonly since: number
}

/** A record that the central server does not take, now or later. It is in the store of this server like any other. */
export interface RefusedRecord {
  readonly thingId: string
  readonly key: string
  /** Of the record, milliseconds. */
  readonly datetime: number
  /** Reason code and message of the central server. */
  readonly reason: string
  readonly message: string
  /** When the refusal came, milliseconds. */
  readonly at: number
}

export interface ForwardReporter {
  /** Ids of the things that the thing map names; there need be no such thing. */
  readonly named: readonly string[]
  /** @param limit most refused records in it @throws ThingwireError of the store */
  report(limit: number): Promise<ForwardReport>
}
