import { activate, Connection } from './connection.ts'
import type { Link } from './link.ts'
import type { ThingMap } from './thing-map.ts'

/**
 * Tokens for things that have an activation code alone. One after another: a code answers for the same thing at the central
 * server until that has used its token (contract §6.2, activation), so that nothing is lost where this process dies in between.
 */
export class Activations {
  readonly #map: ThingMap
  readonly #link: Link
  #latest: Promise<unknown> = Promise.resolve()

  constructor(map: ThingMap, link: Link) {
    this.#map = map
    this.#link = link
  }

  /** @throws LinkDown, ThingHeld */
  tokenFor(thingId: string, stop: AbortSignal): Promise<string> {
    const activating = this.#latest.catch(() => {}).then(() => this.#tokenFor(thingId, stop))
    this.#latest = activating
    return activating
  }

  async #tokenFor(thingId: string, stop: AbortSignal): Promise<string> {
    const passage = this.#map.passageOf(thingId)
    if (!passage) throw new Error('the thing map does not name it any more')
    if ('token' in passage) return passage.token
    return await this.#link.attempt(stop, async target => {
      const token = await activate(target, passage.code)
      await this.#map.keep(thingId, token)
      // Its first use, before the code is asked again.
      const connection = await Connection.open(target, token, `forward.${thingId}`)
      connection.close()
      return token
    })
  }
}
