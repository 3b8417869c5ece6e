/** The answer to `GET /v2/admin/forward`. Times are RFC 3339. */
export type ForwardingAnswer = { readonly target: null } | Forwarding

export interface Forwarding {
  readonly target: string
  readonly connected: boolean
  readonly problem?: string
  readonly mapProblem?: string
  readonly waiting: {
    readonly records: number
    readonly bytes: number
    readonly counted: boolean
    readonly oldest?: string
  }
  readonly forwarded: { readonly records: number; readonly bytes: number }
  readonly refusedRecords: number
  readonly droppedRecords: number
  readonly held: readonly { readonly thingId: string; readonly why: string; readonly since: string }[]
  readonly refused: readonly {
    readonly thingId: string
    readonly key: string
    readonly datetime: string
    readonly reason: string
    readonly message: string
    readonly refusedAt: string
  }[]
  /** Ids in the thing map that no thing of the forwarding server has. Absent if that server has an older version. */
  readonly unknownThings?: readonly string[]
  /** The first 100 things that are not forwarded since the thing map does not have them. Absent as above. */
  readonly omittedThings?: readonly string[]
}
