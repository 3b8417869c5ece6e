import { listDocuments } from '../../core/list-documents.ts'
import type { Commit, DocumentStore } from '../../core/ports.ts'
import type { Live, LiveWrite, LoggedWrite, LogReader, Subscriber } from '../index.ts'
import { EventIds } from './event-ids.ts'
import type { Streamed, StreamLog } from './shared-stream-log.ts'

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

export const streamPrefix = 'streams/'
/** How long the writes of a thing are kept after its last stream has ended, milliseconds (contract §8). */
const keptFor = 600_000

/**
 * `streams/<thing id>`, as long as the writes of the thing are kept: every one behind the number `since` is in the commit
 * log. Put before the first stream begins, raised before a trim cuts, removed before the writes are no longer kept.
 */
type StreamDocument = { readonly since: number }

const documentName = (thingId: string) => streamPrefix + thingId

/**
 * The log of a store of one's own has only what is wanted of it: the writes of things that are streamed, or were a short
 * time ago.
 */
export class OwnStreamLog implements StreamLog, LogReader {
  readonly #documents: DocumentStore
  readonly #live: Live
  readonly #eventIds: EventIds
  readonly #things = new Map<string, StreamedThing>()
  #isClosed = false

  private constructor(documents: DocumentStore, live: Live, eventIds: EventIds) {
    this.#documents = documents
    this.#live = live
    this.#eventIds = eventIds
  }

  /** Takes over what the process before has left. To be called before anything is written. @throws ThingwireError of the store */
  static async open(documents: DocumentStore, live: Live): Promise<OwnStreamLog> {
    const log = new OwnStreamLog(documents, live, await EventIds.begin(documents, live.keptWriteNumber))
    for await (const [thingId, { since }] of listDocuments<StreamDocument>(documents, streamPrefix)) {
      log.#add(thingId, since)
    }
    live.log.keepFor(log)
    return log
  }

  wants(write: LoggedWrite): boolean {
    return this.#things.has(write.thingId) && isStreamed(write)
  }

  async startTrim(): Promise<(commit: Commit) => boolean> {
    const documents: Record<string, StreamDocument> = {}
    for (const thing of this.#things.values()) {
      if (!thing.ending && thing.cut()) documents[documentName(thing.thingId)] = { since: thing.since }
    }
    // It lets the log be cut.
    await this.#documents.put(documents, 'essential')
    return commit => {
      const since = this.#things.get(commit.thingId)?.since
      return since !== undefined && commit.writeNumber > since && isStreamed(commit)
    }
  }

  async enter(thingId: string): Promise<Streamed> {
    const thing = await this.#find(thingId)
    thing.streams++
    clearTimeout(thing.expiry)
    thing.beginning ??= this.#begin(thing)
    try {
      await thing.beginning
    } catch (error) {
      thing.beginning = undefined
      this.#leave(thing)
      throw error
    }
    return {
      thingId,
      eventId: writeNumber => this.#eventIds.of(writeNumber),
      resume: (eventId, until) => this.#resume(thing, eventId, until),
      leave: () => this.#leave(thing),
    }
  }

  close(): void {
    this.#isClosed = true
    for (const thing of this.#things.values()) clearTimeout(thing.expiry)
  }

  #resume(thing: StreamedThing, eventId: string, until: number): AsyncGenerator<Commit> | undefined {
    const after = this.#eventIds.read(eventId)
    if (after === undefined || after < thing.since || after > until) return undefined
    return this.#read(thing.thingId, after, until, thing.hold(after))
  }

  async *#read(thingId: string, after: number, until: number, release: () => void): AsyncGenerator<Commit> {
    const isOf = (each: string) => each === thingId
    try {
      yield* this.#live.log.read({ after, before: until + 1, order: 'asc', isOf })
    } finally {
      release()
    }
  }

  #leave(thing: StreamedThing): void {
    thing.streams--
    this.#expireLater(thing)
  }

  async #find(thingId: string): Promise<StreamedThing> {
    let thing = this.#things.get(thingId)
    while (thing?.ending) {
      await thing.ending
      thing = this.#things.get(thingId)
    }
    return thing ?? this.#add(thingId, undefined)
  }

  /** @param since undefined: its writes are kept from now on */
  #add(thingId: string, since: number | undefined): StreamedThing {
    const thing = new StreamedThing(thingId, since ?? this.#live.keptWriteNumber, since !== undefined)
    this.#things.set(thingId, thing)
    this.#live.subscribe(thingId, thing)
    this.#expireLater(thing)
    return thing
  }

  async #begin(thing: StreamedThing): Promise<void> {
    await this.#live.catchUp(() => thing.begin(this.#live.keptWriteNumber))
    // One small document a thing, without which nothing of it could be read as it comes.
    await this.#documents.put({ [documentName(thing.thingId)]: { since: thing.since } }, 'essential')
  }

  #expireLater(thing: StreamedThing): void {
    clearTimeout(thing.expiry)
    if (thing.streams > 0 || this.#isClosed) return
    thing.expiry = setTimeout(() => {
      thing.ending = this.#end(thing)
    }, keptFor)
    thing.expiry.unref()
  }

  /** Never rejects. */
  async #end(thing: StreamedThing): Promise<void> {
    try {
      await this.#documents.put({ [documentName(thing.thingId)]: null }, 'essential')
      this.#live.unsubscribe(thing.thingId, thing)
      this.#things.delete(thing.thingId)
    } catch {
      this.#expireLater(thing)
    } finally {
      thing.ending = undefined
    }
  }
}
