/** The state of forwarding, for the operator. Contains no credentials. */
export interface ForwardReport {
  /** URL of the central server. */
  readonly target: string
  readonly isConnected: boolean
  /** Why the last attempt to connect failed. */
  readonly problem?: string
  /** Why the changed thing map is not used. The former map stays in use. */
  readonly mapProblem?: string
  /** Records that are not acknowledged yet. While `isCounted` is false, some records from before the start are missing here. */
  readonly waiting: { readonly records: number; readonly bytes: number }
  readonly isCounted: boolean
  /** Receipt time of the oldest waiting record, milliseconds; absent if no record waits. */
  readonly oldest?: number
  /** Records forwarded since the start of this process. */
  readonly forwarded: { readonly records: number; readonly bytes: number }
  /** Number of records that the central server has refused for good since forwarding began. */
  readonly refusedCount: number
  /** Number of records dropped since forwarding began, because too many were waiting. */
  readonly dropped: number
  /** Things that the central server refuses, so that their records wait; `since` in milliseconds. */
  readonly held: readonly { readonly thingId: string; readonly why: string; readonly since: number }[]
  /** The latest refused records, newest first. */
  readonly refused: readonly RefusedRecord[]
}

/** A record that the central server has refused for good. It stays in the store of this server. */
export interface RefusedRecord {
  readonly thingId: string
  readonly key: string
  /** Datetime of the record, milliseconds. */
  readonly datetime: number
  /** The central server's reason code. `message` is the text that came with it. */
  readonly reason: string
  readonly message: string
  /** Time of the refusal, milliseconds. */
  readonly at: number
}

export interface ForwardReporter {
  /** The thing ids in the thing map. A thing with such an id need not exist. */
  readonly named: readonly string[]
  /** @param limit maximum number of refused records in the report @throws ThingwireError of the store */
  report(limit: number): Promise<ForwardReport>
}
