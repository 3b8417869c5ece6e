import { Line, LinkDown, ThingHeld } from './line.ts'
import type { Target } from './target.ts'
import type { ThingMap } from './thing-map.ts'

/** What a look at the central server has shown. */
export interface TargetCheck {
  /** Why it was not reached: then nothing is known of the tokens. */
  readonly down?: string
  /** Things that it does not take. */
  readonly faults: readonly { readonly thingId: string; readonly why: string }[]
  /** Things that it takes. */
  readonly taken: number
}

/** Connections that are tried at once. */
const atOnce = 8

/** Tries the token of each thing that the map names. Activation codes are left alone: to try one is to use it. Never rejects. */
export async function checkTarget(target: Target, map: ThingMap): Promise<TargetCheck> {
  const left = map.named.flatMap(thingId => {
    const passage = map.passageOf(thingId)
    return passage && 'token' in passage ? [{ thingId, token: passage.token }] : []
  })
  const faults: { thingId: string; why: string }[] = []
  let taken = 0
  let down: string | undefined
  const tryNext = async (): Promise<void> => {
    for (let next = left.shift(); next && down === undefined; next = left.shift()) {
      const { thingId, token } = next
      try {
        const line = await Line.open(target, token, `forward-check.${thingId}`)
        line.close()
        taken++
      } catch (error) {
        if (error instanceof ThingHeld) faults.push({ thingId, why: error.message })
        else if (error instanceof LinkDown) down ??= error.message
        else throw error
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, tryNext))
  return { ...(down !== undefined && { down }), faults, taken }
}
