import type { WriteAnswer } from '../contract.ts'
import { rememberedFor, rememberedIds } from '../resend.ts'

/** The write ids of one thing, with what their writes were answered (contract §4, resend (c)). */
export class WriteIds {
  /** Oldest first. */
  readonly #taken = new Map<string, { readonly answer: WriteAnswer; readonly receivedAt: number }>()

  /** @param now receipt time of the write that asks, milliseconds */
  answerOf(id: string, now: number): WriteAnswer | undefined {
    const taken = this.#taken.get(id)
    return taken && now - taken.receivedAt <= rememberedFor ? taken.answer : undefined
  }

  take(id: string, answer: WriteAnswer, receivedAt: number): void {
    this.#taken.delete(id)
    this.#taken.set(id, { answer, receivedAt })
    const [oldest] = this.#taken.keys()
    if (this.#taken.size > rememberedIds && oldest !== undefined) this.#taken.delete(oldest)
  }
}
