/** The state of forwarding, for the operator; without credentials. */
export interface ForwardReport {
  /** URL of the central server. */
  readonly target: string
  readonly isConnected: boolean
  /** Why no connection could be made. */
  readonly problem?: string
  /** Why a changed thing map is not used; the former one still is. */
  readonly mapProblem?: string
  /** Records without an ack. Until `isCounted`, it lacks some from before the start. */
  readonly waiting: { readonly records: number; readonly bytes: number }
  readonly isCounted: boolean
  /** Receipt time of the oldest waiting record, milliseconds; absent: none waits. */
  readonly oldest?: number
  /** Since the start of this process. */
  readonly forwarded: { readonly records: number; readonly bytes: number }
  /** Records that the central server has refused for good, since forwarding began. */
  readonly refusedCount: number
  /** Records that were dropped because too many waited, since forwarding began. */
  readonly dropped: number
  /** Things whose records wait because the central server refuses the thing; `since`: milliseconds. */
  readonly held: readonly { readonly thingId: string; readonly why: string; readonly since: number }[]
  /** Newest first. */
  readonly refused: readonly RefusedRecord[]
}

/** A record that the central server has refused for good. It stays in the store of this server. */
export interface RefusedRecord {
  readonly thingId: string
  readonly key: string
  /** Milliseconds. */
  readonly datetime: number
  /** Reason code and message of the central server. */
  readonly reason: string
  readonly message: string
  /** Time of the refusal, milliseconds. */
  readonly at: number
}

export interface ForwardReporter {
  /** Ids in the thing map; a thing of the id need not exist. */
  readonly named: readonly string[]
  /** @param limit most refused records in the report @throws ThingwireError of the store */
  report(limit: number): Promise<ForwardReport>
}
