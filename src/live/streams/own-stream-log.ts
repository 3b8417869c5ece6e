import { listDocuments } from '../../core/list-documents.ts'
import type { Commit, DocumentStore } from '../../core/ports.ts'
import type { Live, LiveWrite, LoggedWrite, LogReader, Subscriber } from '../index.ts'
import { EventIds } from './event-ids.ts'
import type { Streamed, StreamLog } from './shared-stream-log.ts'

/** At least this many writes of a thing can be read again while the thing counts as streamed (contract §8). */
const keptWrites = 1_000
const marks = 10

/** Whether streams show the commit, live or when resumed. */
export function isStreamed({ records, broadcast }: Pick<Commit, 'records' | 'broadcast'>): boolean {
  return broadcast && records.length > 0
}

/** A thing whose writes are kept so that streams can be resumed. */
export class StreamedThing implements Subscriber {
  readonly thingId: string
  /** The commit log has every streamed write after this number. */
  since: number
  streams = 0
  /** Timer that runs while the thing has no streams. */
  expiry: NodeJS.Timeout | undefined
  /** Resolves when `since` is stored; undefined if this process has not opened a stream of the thing. */
  beginning: Promise<void> | undefined
  /** Set while this object and its document are being removed; resolves when the removal has ended. */
  ending: Promise<void> | undefined
  /** The number of every hundredth write, oldest first. */
  readonly #marks: number[] = []
  #sinceMark = 0
  readonly #held = new Set<{ readonly writeNumber: number }>()

  readonly #isInherited: boolean

  /** @param isInherited whether the previous process has kept the writes after `since` */
  constructor(thingId: string, since: number, isInherited: boolean) {
    this.thingId = thingId
    this.since = since
    this.#isInherited = isInherited
  }

  /** Keeps the writes after `writeNumber`. */
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

  /** Keeps the writes after `writeNumber` until the returned function is called. */
  hold(writeNumber: number): () => void {
    const held = { writeNumber }
    this.#held.add(held)
    return () => this.#held.delete(held)
  }

  /** Moves `since` forward if enough newer writes are kept. @returns whether `since` was moved */
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
 * `streams/<thing id>`: the commit log has every streamed write of the thing with a number above `since`. The document is put
 * before the first stream begins. `since` is raised before a trim, and the document is removed before the log drops these writes.
 */
type StreamDocument = { readonly since: number }

const documentName = (thingId: string) => streamPrefix + thingId

/** The stream log of an unshared store. Keeps the writes of things that are streamed now, or were within the last ten minutes. */
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

  /** Takes over the streamed things of the previous process. Call this before any write. @throws ThingwireError if the store fails */
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
    // The documents are put even if the disk is full, because a trim, which frees space, needs them.
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

  /** @param since undefined to keep writes from now on */
  #add(thingId: string, since: number | undefined): StreamedThing {
    const thing = new StreamedThing(thingId, since ?? this.#live.keptWriteNumber, since !== undefined)
    this.#things.set(thingId, thing)
    this.#live.subscribe(thingId, thing)
    this.#expireLater(thing)
    return thing
  }

  async #begin(thing: StreamedThing): Promise<void> {
    await this.#live.catchUp(() => thing.begin(this.#live.keptWriteNumber))
    // Put even if the disk is full: the document is small, and the thing cannot be streamed without it.
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
