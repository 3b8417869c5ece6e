/** The state of forwarding, for the operator. Contains no credentials. */
export interface ForwardReport {
  /** URL of the central server. */
  readonly target: string
  readonly isConnected: boolean
  /** Why the last attempt to connect failed. */
  readonly problem?: string
  /** Why a change of the thing map was refused. The previous map stays in use. */
  readonly mapProblem?: string
  /** Records that are not acknowledged yet. While `isCounted` is false, some older records are missing here. */
  readonly waiting: { readonly records: number; readonly bytes: number }
  readonly isCounted: boolean
  /** Receipt time of the oldest waiting record, milliseconds; absent if no record is waiting. */
  readonly oldest?: number
  /** Records forwarded since the start of this process. */
  readonly forwarded: { readonly records: number; readonly bytes: number }
  /** Number of records that the central server has refused for good since forwarding began. */
  readonly refusedCount: number
  /** Number of records that were dropped since forwarding began because too many were waiting. */
  readonly dropped: number
  /** Things that the central server refuses. Their records wait. `since` is in milliseconds. */
  readonly held: readonly { readonly thingId: string; readonly why: string; readonly since: number }[]
  /** Things that activation codes made at the central server: by thing id here, the thing id there. */
  readonly activated: ReadonlyMap<string, string>
  /** The latest refused records, newest first. */
  readonly refused: readonly RefusedRecord[]
}

/** A record that the central server has refused for good. It stays in the store of this server. */
export interface RefusedRecord {
  readonly thingId: string
  readonly key: string
  /** Datetime of the record, milliseconds. */
  readonly datetime: number
  /** The central server's reason code. `message` is the server's text for people. */
  readonly reason: string
  readonly message: string
  /** Time of the refusal, milliseconds. */
  readonly at: number
}

export interface ForwardReporter {
  /** The thing ids in the thing map, including ids of things that do not exist. */
  readonly named: readonly string[]
  /** Whether the thing map has neither the thing nor an entry for all others. */
  omits(thingId: string): boolean
  /** @param limit maximum number of refused records in the report @throws ThingwireError if the store fails */
  report(limit: number): Promise<ForwardReport>
}
