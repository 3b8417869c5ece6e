import type { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import { kernelQueue } from './kernel-queue.ts'

/** How often a sink that has not taken everything is looked at, as a part of `drainTimeout`. */
const looksPerTimeout = 10

export interface SinkWatchParts {
  readonly sink: Writable
  /** The connection under the sink, if it is one. */
  readonly socket: Socket | undefined
  /** How long the sink may take nothing of what it was given, milliseconds. */
  readonly drainTimeout: number
  /** The sink takes nothing. */
  readonly onStuck: (why: string) => void
}

/** Looks at a sink that has not taken everything, until it has, and tells of one that takes nothing. */
export class SinkWatch {
  readonly #parts: SinkWatchParts
  #look: NodeJS.Timeout | undefined
  /**
   * How often the sink was looked at since it was seen to take something, and what was in it then. Counted, not measured: after
   * a pause of this process it has still to be heard of what was taken meanwhile.
   */
  #looksInVain = 0
  #inSink = 0
  #inKernel: string | undefined

  constructor(parts: SinkWatchParts) {
    this.#parts = parts
    parts.sink.on('drain', this.#onDrain)
  }

  /** Does nothing if it has begun already. */
  begin(): void {
    const { sink, drainTimeout } = this.#parts
    if (this.#look || sink.writableLength === 0) return
    this.#looksInVain = 0
    this.#inSink = sink.writableLength
    this.#inKernel = undefined
    this.#look = setInterval(() => this.#lookAtSink(), drainTimeout / looksPerTimeout)
    this.#look.unref()
  }

  end(): void {
    clearInterval(this.#look)
    this.#parts.sink.removeListener('drain', this.#onDrain)
  }

  readonly #onDrain = (): void => {
    this.#looksInVain = 0
  }

  #lookAtSink(): void {
    const { sink, drainTimeout, onStuck } = this.#parts
    const inSink = sink.writableLength
    const stands = inSink >= this.#inSink
    this.#looksInVain = stands ? this.#looksInVain + 1 : 0
    this.#inSink = inSink
    if (inSink === 0) {
      clearInterval(this.#look)
      this.#look = undefined
    } else if (this.#looksInVain > looksPerTimeout) {
      onStuck(`its socket has accepted nothing for ${drainTimeout} ms`)
    } else if (stands) {
      void this.#lookIntoKernel()
    }
  }

  async #lookIntoKernel(): Promise<void> {
    const { socket } = this.#parts
    const inKernel = socket && (await kernelQueue(socket))
    if (this.#inKernel !== undefined && inKernel !== this.#inKernel) this.#looksInVain = 0
    this.#inKernel = inKernel
  }
}
