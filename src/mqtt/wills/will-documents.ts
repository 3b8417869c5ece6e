import type { QoS } from '../packets/packet.ts'

/** `mqtt-wills/<owner>/<random>`: the will of a client, stored at CONNECT. */
export type Will = KeptWillContent & {
  /** The node that the client is connected to. */
  readonly node: string
  /** Owner of the client's lock; empty: a client of the host has none. */
  readonly holder: string
  /** The node has closed the connection because it was stopped. */
  readonly isLeft?: true
}

export type KeptWillContent = WillContent & {
  /** Client id, or `ownerOf` of an anonymous connection. */
  readonly owner: string
}

export type WillContent = {
  /** SHA-256 of the credential that allowed the will: if it is revoked, the will is dropped. */
  readonly credentialHash: string
  /** The write body (contract §2), or the payload of the message; base64. */
  readonly body: string
} & (
  | { readonly thingId: string; readonly message?: never }
  | { readonly message: WillMessage; readonly thingId?: never }
)

type WillMessage = { readonly topic: string; readonly qos: QoS; readonly isRetained: boolean }

/** Whether the will's node does not take care of it any more. @param alive the live nodes */
export function isAbandoned({ node, isLeft }: Will, alive: ReadonlySet<string>): boolean {
  return isLeft === true || !alive.has(node)
}

export const willPrefix = 'mqtt-wills/'

// A client id may contain `/`, and one owner may be a prefix of another.
export const willsOf = (owner: string) => `${willPrefix}${encodeURIComponent(owner)}/`
