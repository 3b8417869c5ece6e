import type { ThingwireError } from '../../errors.ts'
import type { RefusedWrite, RefusedWrites, WriteAnswer } from '../ports.ts'
import type { Redactor } from './redactor.ts'

/** A write that was refused by its door or for its content, or a connection that was rejected. */
export interface Refusal {
  readonly thingId: string
  readonly door: RefusedWrite['door']
  readonly error: ThingwireError
  readonly body?: Uint8Array
  readonly writeId?: string | undefined
  /** Number of rejected connections that the entry stands for. */
  readonly count?: number
}

export type RefusedListener = (thingId: string, refused: RefusedWrite) => void

/** Adds refused writes to the list of their thing and sends them to listeners, in the order of arrival for each thing. */
export class Refusals {
  readonly #refused: RefusedWrites
  readonly #redactor: Redactor
  readonly #listeners = new Set<RefusedListener>()
  /** By thing id: a promise that settles when the thing's latest refusal is listed. */
  readonly #latest = new Map<string, Promise<unknown>>()

  constructor(refused: RefusedWrites, redactor: Redactor) {
    this.#refused = refused
    this.#redactor = redactor
  }

  /** @returns the unsubscribe function */
  onRefused(listener: RefusedListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Lists a refusal, unless the write repeats an earlier write. @returns the earlier answer @throws errors of `answered` */
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
    // The refusal stays final even if it cannot be listed: otherwise the device would send the write again for ever.
    await this.#refused.add(thingId, entry).catch(() => {})
    return undefined
  }
}
