import { ThingwireError } from '../../errors.ts'

/** Refuses calls after `close`, and makes `close` wait for earlier calls. */
export class LifeCycle {
  #underWay = 0
  #onQuiet = () => {}
  readonly #streams = new Set<AsyncIterator<unknown>>()
  readonly #ending = new AbortController()
  #closing: Promise<void> | undefined

  /** Lets long calls end early: `close` aborts this signal, with the error that later calls get. */
  get ending(): AbortSignal {
    return this.#ending.signal
  }

  get closed(): boolean {
    return this.#closing !== undefined
  }

  async run<T>(call: () => Promise<T>): Promise<T> {
    this.assertOpen()
    return await this.waitFor(call())
  }

  /** Makes `close` wait for `promise`. */
  async waitFor<T>(promise: Promise<T>): Promise<T> {
    this.enter()
    try {
      return await promise
    } finally {
      this.leave()
    }
  }

  /** Makes `close` wait until `leave` is called. */
  enter(): void {
    this.#underWay++
  }

  leave(): void {
    this.#underWay--
    if (this.#underWay === 0) this.#onQuiet()
  }

  /** A stream that `close` ends early, since its reader may be slow. */
  async *stream<T>(open: () => AsyncIterable<T>): AsyncIterable<T> {
    this.assertOpen()
    const iterator = open()[Symbol.asyncIterator]()
    this.#streams.add(iterator)
    try {
      for await (const item of { [Symbol.asyncIterator]: () => iterator }) yield item
    } finally {
      this.#streams.delete(iterator)
    }
    // Throws if `close` has ended the stream early. Otherwise the reader would think that it has read the whole stream.
    this.assertOpen()
  }

  /** Runs `last` when every call has settled. Later calls of `close` return the same promise. */
  close(last: () => Promise<void>): Promise<void> {
    this.#closing ??= (async () => {
      this.#ending.abort(this.closedError())
      await Promise.allSettled([...this.#streams].map(iterator => iterator.return?.()))
      while (this.#underWay > 0) {
        await new Promise<void>(resolve => {
          this.#onQuiet = resolve
        })
      }
      await last()
    })()
    return this.#closing
  }

  /** @throws ThingwireError store_unavailable */
  assertOpen(): void {
    if (this.#closing) throw this.closedError()
  }

  closedError(): ThingwireError {
    return new ThingwireError('store_unavailable', 'the store is closed')
  }
}
