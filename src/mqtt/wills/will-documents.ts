import type { WriteOptions } from '../../core/parse.ts'
import type { Reason } from '../../errors.ts'
import type { QoS } from '../packets/packet.ts'

/** `mqtt-wills/<owner>/<random>`: the will of a client, stored at CONNECT. */
export type Will = KeptWillContent & {
  /** The node that the client is connected to. */
  readonly node: string
  /** Owner of the client's lock; empty for a client of the host, which has no lock. */
  readonly holder: string
  /** Set if the node closed the connection because the node was stopped. */
  readonly isLeft?: true
  /** Set when the connection has ended and the will waits for its delay: when it is due, milliseconds since 1970. */
  readonly dueAt?: number
}

export type KeptWillContent = WillContent & {
  /** The client id, or for an anonymous connection the result of `ownerOf`. */
  readonly owner: string
}

export type WillContent = {
  /** SHA-256 hash of the credential that allowed the will: if the credential is revoked, the will is dropped. */
  readonly credentialHash: string
  /** The write body (contract §2) or the payload of the message, base64. */
  readonly body: string
  /** Will Delay of MQTT 5, seconds, but no longer than the session lasts; absent: 0. */
  readonly delay?: number
} & (
  | {
      readonly thingId: string
      readonly message?: never
      readonly format?: string
      /** Options of the write in the properties of the will. */
      readonly options?: WriteOptions
      /** Why the properties of the will are refused. */
      readonly refusal?: Reason
    }
  | { readonly message: WillMessage; readonly thingId?: never }
)

type WillMessage = {
  readonly topic: string
  readonly qos: QoS
  readonly isRetained: boolean
  /** `Carried.properties`, base64. */
  readonly properties?: string
  /** How long the message lasts after it is published, seconds; absent: for ever. */
  readonly expiry?: number
}

/** Whether the will's node no longer takes care of the will. @param alive the live nodes */
export function isAbandoned({ node, isLeft }: Will, alive: ReadonlySet<string>): boolean {
  return isLeft === true || !alive.has(node)
}

export const willPrefix = 'mqtt-wills/'

// The owner is encoded, since a client id may contain `/`. The final `/` excludes owners that only begin with this owner.
export const willsOf = (owner: string) => `${willPrefix}${encodeURIComponent(owner)}/`
