import type { ConnectionFlags } from '../client/connection.ts'
import type { WriteFlags } from '../load/loader.ts'

/** Options of `thingwire write`. */
export interface Flags extends ConnectionFlags {
  readonly file?: string
  readonly format?: string
  readonly key?: string
  readonly timeColumn?: string
  readonly timeUnit?: string
  readonly tz?: string
  readonly date?: string
  readonly now?: true
  readonly geoColumns?: string
  readonly decimal?: string
  readonly dryRun?: true
  readonly datetime?: string
  readonly geo?: string
  readonly partial?: true
  readonly store: boolean
  readonly broadcast: boolean
}

/** The options that become members of each write. */
export function writeFlags({ partial, store, broadcast }: Flags): WriteFlags {
  return { partial, store: store ? undefined : false, broadcast: broadcast ? undefined : false }
}
