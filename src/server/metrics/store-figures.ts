import { statfs } from 'node:fs/promises'
import type { ThingsParts } from '../../things.ts'
import type { ServerOptions } from '../options/options.ts'

/** How old figures may be, milliseconds: to look at all files of a store takes a while. */
const maximumAge = 10_000

/** Bytes. */
interface Figures {
  readonly bytes?: number
  readonly limit?: number | undefined
  /** On the disk of the embedded store. */
  readonly free?: number
}

/** What the store takes, and what is left. */
export class StoreFigures {
  readonly #things: Pick<ThingsParts, 'storeSize'>
  readonly #dataDir: string | undefined
  #newest: Promise<Figures> | undefined
  #readAt = 0

  constructor(things: Pick<ThingsParts, 'storeSize'>, { redisUrl, dataDir }: ServerOptions) {
    this.#things = things
    this.#dataDir = redisUrl === undefined ? dataDir : undefined
  }

  /** Not older than 10 s. Never rejects: what cannot be told is absent. */
  read(): Promise<Figures> {
    const now = performance.now()
    if (!this.#newest || now - this.#readAt > maximumAge) {
      this.#readAt = now
      this.#newest = this.#read()
    }
    return this.#newest
  }

  async #read(): Promise<Figures> {
    const [size, free] = await Promise.all([this.#things.storeSize().catch(() => ({})), this.#free()])
    return { ...size, ...(free !== undefined && { free }) }
  }

  async #free(): Promise<number | undefined> {
    if (this.#dataDir === undefined) return undefined
    return await statfs(this.#dataDir).then(
      ({ bavail, bsize }) => bavail * bsize,
      () => undefined,
    )
  }
}
