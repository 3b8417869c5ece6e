import { Connection, LinkDown, NoMqttServer, reach, ThingHeld } from './connection.ts'
import type { Target } from './target.ts'
import type { ThingMap } from './thing-map.ts'

/** What a look at the central server has shown. */
interface TargetCheck {
  /** Why it was not reached: then nothing is known of the tokens. */
  readonly down?: string
  /** Why it can be no Thingwire. */
  readonly wrong?: string
  /** Things that it does not take. */
  readonly faults: readonly { readonly thingId: string; readonly why: string }[]
}

/** Connections that are tried at once. */
const atOnce = 8

/**
 * Tries the token of each thing that the map names. Activation codes are left alone: to try one is to use it. Where there is no token,
 * it connects without one.
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
  // It takes nobody without a credential, so it was reached.
  if (error instanceof ThingHeld) return undefined
  throw error
}

/** @returns undefined: it may be right, and away for now */
async function faultOf({ url, redactor }: Target, down: LinkDown): Promise<string | undefined> {
  if (down instanceof NoMqttServer) return down.message
  const { protocol, hostname, port } = new URL(url)
  const isCut = (down.cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNRESET'
  if (protocol !== 'mqtts:' || !isCut) return undefined
  // A listener without TLS closes such a connection, and so does a proxy whose server is away.
  const withoutTls = { url: `mqtt://${hostname}:${port || 8883}`, redactor }
  const cut = await reach(withoutTls).then(() => undefined, notReached)
  return cut ? undefined : 'it answers without TLS: is it the port for mqtts?'
}
