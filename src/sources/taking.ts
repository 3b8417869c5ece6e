import type { SourceMessage, TakenMessage } from '../access/access.ts'
import type { Ticket } from '../core/async/ticket.ts'
import type { WriteAnswer } from '../core/ports.ts'
import type { SentRecord } from '../formats/format.ts'

const nothingRefused: TakenMessage = { refused: undefined }

/** A message that is being taken, until everything that it has begun has ended: counted, since thousands may wait for the disk. */
export class Taking {
  readonly message: SourceMessage
  /** See `TakenMessage`. */
  reply: unknown
  refused: string | undefined
  readonly #ticket: Ticket<TakenMessage>
  /** Tasks that have not ended; the reading of the message is the first. */
  #open = 1
  #error: unknown

  constructor(message: SourceMessage, ticket: Ticket<TakenMessage>) {
    this.message = message
    this.#ticket = ticket
  }

  /** Call this before each further task that the acknowledgement waits for, and `end` after each. */
  begin(): void {
    this.#open++
  }

  /** @param error set if the task failed: the message fails with the first one, when all tasks have ended */
  end(error?: unknown): void {
    this.#error ??= error
    if (--this.#open > 0) return
    const { reply, refused } = this
    if (this.#error !== undefined) this.#ticket.reject(this.#error)
    else
      this.#ticket.resolve(reply === undefined && refused === undefined ? nothingRefused : { reply, refused })
  }

  /** Adds a task that the acknowledgement waits for. */
  await(task: Promise<unknown>): void {
    this.begin()
    this.endWith(task)
  }

  endWith(task: Promise<unknown>): void {
    task.then(
      () => this.end(),
      (error: unknown) => this.end(error),
    )
  }
}

interface SourceWriteEnds {
  written(write: SourceWrite, answer: WriteAnswer): void
  failed(write: SourceWrite, error: unknown): void
}

/** A write for one thing, and the ticket for its answer. */
export class SourceWrite implements Ticket<WriteAnswer> {
  readonly thingId: string
  readonly values: readonly SentRecord[]
  readonly taking: Taking
  readonly #ends: SourceWriteEnds
  #hasEnded = false
  /** Resumes whoever waits for the end. */
  #onEnd: (() => void) | undefined

  constructor(thingId: string, values: readonly SentRecord[], taking: Taking, ends: SourceWriteEnds) {
    this.thingId = thingId
    this.values = values
    this.taking = taking
    this.#ends = ends
  }

  resolve(answer: WriteAnswer): void {
    this.#ends.written(this, answer)
    this.#end()
  }

  reject(error: unknown): void {
    this.#ends.failed(this, error)
    this.#end()
  }

  #end(): void {
    this.#hasEnded = true
    this.#onEnd?.()
  }

  /** Resolves when the write is durable or has failed. */
  async ended(): Promise<void> {
    if (this.#hasEnded) return
    const before = this.#onEnd
    await new Promise<void>(resolve => {
      this.#onEnd = () => {
        before?.()
        resolve()
      }
    })
  }
}
