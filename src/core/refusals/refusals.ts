import type { ThingwireError } from '../../errors.ts'
import type { RefusedWrite, RefusedWrites, WriteAnswer } from '../ports.ts'
import type { Redactor } from './redactor.ts'

/** A write that was refused, by its door or for its content. */
export interface Refusal {
  readonly thingId: string
  readonly door: RefusedWrite['door']
  readonly error: ThingwireError
  /** As far as there is one to show. */
  readonly body?: Uint8Array
  readonly writeId?: string | undefined
  /** How often it came, if it is listed once for several times. */
  readonly count?: number
}

export type RefusedListener = (thingId: string, refused: RefusedWrite) => void

/** Lists refused writes and sends them, each thing's in the order in which they came. */
export class Refusals {
  readonly #refused: RefusedWrites
  readonly #redactor: Redactor
  readonly #listeners = new Set<RefusedListener>()
  /** By thing id: settles when its latest refusal is noted. */
  readonly #latest = new Map<string, Promise<unknown>>()

  constructor(refused: RefusedWrites, redactor: Redactor) {
    this.#refused = refused
    this.#redactor = redactor
  }

  /** Returns how to stop. */
  onRefused(listener: RefusedListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Notes a refusal unless the write repeats one that was answered before.
   *
   * @returns the answer of that one @throws what `answered` rejects with
   */
  async note(
    refusal: Refusal,
    receivedAt: number,
    answered: Promise<WriteAnswer | undefined> = Promise.resolve(undefined),
  ): Promise<WriteAnswer | undefined> {
    const { thingId } = refusal
    const noting = this.#noteNext(refusal, receivedAt, answered, this.#latest.get(thingId))
    const settled = noting.catch(() => {})
    this.#latest.set(thingId, settled)
    return await noting.finally(() => {
      if (this.#latest.get(thingId) === settled) this.#latest.delete(thingId)
    })
  }

  async #noteNext(
    { thingId, door, error, body, writeId, count }: Refusal,
    receivedAt: number,
    answered: Promise<WriteAnswer | undefined>,
    before: Promise<unknown> | undefined,
  ): Promise<WriteAnswer | undefined> {
    const [answer] = await Promise.all([answered, before])
    if (answer) return answer
    const { reason, message, errors } = error
    const entry: RefusedWrite = {
      datetime: receivedAt,
      door,
      reason,
      message: this.#redactor.redact(message),
      ...(count === undefined ? {} : { count }),
      ...(errors ? { errors } : {}),
      ...(writeId === undefined ? {} : { id: this.#redactor.redact(writeId) }),
      excerpt: body ? this.#redactor.excerpt(body) : '',
    }
    for (const listener of this.#listeners) listener(thingId, entry)
    // The refusal stands where it cannot be kept: asked to try again, the device would never stop.
    await this.#refused.add(thingId, entry).catch(() => {})
    return undefined
  }
}
