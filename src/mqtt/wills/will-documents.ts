import type { QoS } from '../packets/packet.ts'

/** `mqtt-wills/<owner>/<random>`: what is to be written when a client is lost; there from CONNECT on. */
export type Will = KeptWillContent & {
  /** To which the client is connected. */
  readonly node: string
  /** Owner of the lock that the connection has of its client; empty: it has none, being a client of the host. */
  readonly holder: string
  /** Its node has closed the connection, since it stops in order. */
  readonly isLeft?: true
}

export type KeptWillContent = WillContent & {
  /** Whose will it is: client id, or `ownerOf` of an anonymous connection. */
  readonly owner: string
}

export type WillContent = {
  /** SHA-256 of the credential that allowed it: a revoked one's will is dropped. */
  readonly credentialHash: string
  /** The write body (contract §2), or the payload of the message; base64. */
  readonly body: string
} & (
  | { readonly thingId: string; readonly message?: never }
  | { readonly message: WillMessage; readonly thingId?: never }
)

/** A will that is no write: a message on a topic beside those of things. */
type WillMessage = { readonly topic: string; readonly qos: QoS; readonly isRetained: boolean }

/** Whether its node does not look after it any more. @param alive the nodes that are there */
export function isAbandoned({ node, isLeft }: Will, alive: ReadonlySet<string>): boolean {
  return isLeft === true || !alive.has(node)
}

export const willPrefix = 'mqtt-wills/'

// An owner holds a client id, which may hold any character, and one may begin like another.
export const willsOf = (owner: string) => `${willPrefix}${encodeURIComponent(owner)}/`
