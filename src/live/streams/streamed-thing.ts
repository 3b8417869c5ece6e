import type { Commit } from '../../core/ports.ts'
import type { LiveWrite, Subscriber } from '../index.ts'

/** Writes of a thing that stay readable at least, as long as the thing counts as streamed (contract §8). */
const keptWrites = 1_000
const marks = 10

/** Whether a stream shows the commit, and shows it again to who resumes. */
export function isStreamed({ records, broadcast }: Pick<Commit, 'records' | 'broadcast'>): boolean {
  return broadcast && records.length > 0
}

/** A thing whose writes are kept for the streams that may be resumed. */
export class StreamedThing implements Subscriber {
  readonly thingId: string
  /** Every write behind this number that a stream shows is in the commit log. */
  since: number
  /** Streams that are open. */
  streams = 0
  /** Runs while there are none. */
  expiry: NodeJS.Timeout | undefined
  /** Resolves when every write behind `since` is kept, and that is durable; undefined: this process has opened no stream. */
  beginning: Promise<void> | undefined
  /** While it is being given up. */
  ending: Promise<void> | undefined
  /** Every so many writes the number of one, oldest first. */
  readonly #marks: number[] = []
  #sinceMark = 0
  readonly #held = new Set<{ readonly writeNumber: number }>()

  readonly #isInherited: boolean

  /** @param isInherited whether the process before has kept its writes behind `since` */
  constructor(thingId: string, since: number, isInherited: boolean) {
    this.thingId = thingId
    this.since = since
    this.#isInherited = isInherited
  }

  /** Its writes behind this one are kept. */
  begin(writeNumber: number): void {
    if (!this.#isInherited) this.since = Math.max(this.since, writeNumber)
  }

  deliver({ commit }: LiveWrite): void {
    if (!commit.stored || !isStreamed(commit)) return
    this.#sinceMark++
    if (this.#sinceMark < keptWrites / marks) return
    this.#sinceMark = 0
    this.#marks.push(commit.writeNumber)
    if (this.#marks.length > marks + 1) this.#marks.shift()
  }

  /** Keeps what is behind a write until the function that it returns is called. */
  hold(writeNumber: number): () => void {
    const held = { writeNumber }
    this.#held.add(held)
    return () => this.#held.delete(held)
  }

  /** Gives up the writes of which there are newer ones enough; whether there were any. */
  cut(): boolean {
    const [mark] = this.#marks
    if (mark === undefined || this.#marks.length <= marks) return false
    const cut = Math.min(mark, ...[...this.#held].map(({ writeNumber }) => writeNumber))
    if (cut <= this.since) return false
    this.since = cut
    return true
  }
}
