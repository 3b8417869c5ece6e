import { ThingwireError } from '../../errors.ts'

/** Refuses what comes after `close`, and lets `close` wait for what came before. */
export class LifeCycle {
  #underWay = 0
  #onQuiet = () => {}
  readonly #streams = new Set<AsyncIterator<unknown>>()
  readonly #ending = new AbortController()
  #closing: Promise<void> | undefined

  /** Aborted by `close`, with the error of the calls after it: for what would keep it waiting for long. */
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

  /** Makes `close` wait for `promise`, whoever else does or does not. */
  async waitFor<T>(promise: Promise<T>): Promise<T> {
    this.enter()
    try {
      return await promise
    } finally {
      this.leave()
    }
  }

  /** Makes `close` wait for `leave`, which is to be called once. */
  enter(): void {
    this.#underWay++
  }

  leave(): void {
    this.#underWay--
    if (this.#underWay === 0) this.#onQuiet()
  }

  /** A stream may take as long as its reader does, so `close` breaks it off. */
  async *stream<T>(open: () => AsyncIterable<T>): AsyncIterable<T> {
    this.assertOpen()
    const iterator = open()[Symbol.asyncIterator]()
    this.#streams.add(iterator)
    try {
      for await (const item of { [Symbol.asyncIterator]: () => iterator }) yield item
    } finally {
      this.#streams.delete(iterator)
    }
    // Broken off is not ended: the reader must not take what it has for the whole.
    this.assertOpen()
  }

  /** Runs `last` when everything has settled; once, however often it is called. */
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
