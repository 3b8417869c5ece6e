import { Connection, LinkDown, NoMqttServer, reach, ThingHeld } from './connection.ts'
import type { Target } from './target.ts'
import type { ThingMap } from './thing-map.ts'

interface TargetCheck {
  /** Why the central server was not reached; if set, no further tokens were tried. */
  readonly down?: string
  /** Why the target cannot be a Thingwire server. */
  readonly wrong?: string
  /** Things that the central server refuses, and why. */
  readonly faults: readonly { readonly thingId: string; readonly why: string }[]
}

const atOnce = 8

/**
 * Tries the token of each thing in the map. If the map has no token, connects without a credential. Activation codes are not tried,
 * since that would use them up.
 */
export async function checkTarget(target: Target, map: ThingMap): Promise<TargetCheck> {
  const left = map.named.flatMap(thingId => {
    const passage = map.passageOf(thingId)
    return passage && 'token' in passage ? [{ thingId, token: passage.token }] : []
  })
  const faults: { thingId: string; why: string }[] = []
  let down: LinkDown | undefined
  const tryNext = async (): Promise<void> => {
    for (let next = left.shift(); next && down === undefined; next = left.shift()) {
      const { thingId, token } = next
      try {
        const connection = await Connection.open(target, token, `forward-check.${thingId}`)
        connection.close()
      } catch (error) {
        if (error instanceof ThingHeld) faults.push({ thingId, why: error.message })
        else if (error instanceof LinkDown) down ??= error
        else throw error
      }
    }
  }
  if (left.length === 0) down = await reach(target).then(() => undefined, notReached)
  await Promise.all(Array.from({ length: atOnce }, tryNext))
  if (!down) return { faults }
  const wrong = await faultOf(target, down)
  return { ...(wrong === undefined ? { down: down.message } : { wrong }), faults }
}

function notReached(error: unknown): LinkDown | undefined {
  if (error instanceof LinkDown) return error
  // The server was reached, since it refused the client without a credential.
  if (error instanceof ThingHeld) return undefined
  throw error
}

/** @returns why the target must be wrong; undefined if the central server may just be unavailable */
async function faultOf({ url, redactor }: Target, down: LinkDown): Promise<string | undefined> {
  if (down instanceof NoMqttServer) return down.message
  const { protocol, hostname, port } = new URL(url)
  const isCut = (down.cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNRESET'
  if (protocol !== 'mqtts:' || !isCut) return undefined
  // A listener without TLS resets a TLS connection, but so does a proxy whose server is unavailable. Connecting without TLS shows
  // which of the two it is.
  const withoutTls = { url: `mqtt://${hostname}:${port || 8883}`, redactor }
  const cut = await reach(withoutTls).then(() => undefined, notReached)
  return cut ? undefined : 'it answers without TLS: is it the port for mqtts?'
}
