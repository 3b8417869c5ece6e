import { setImmediate as nextTurn } from 'node:timers/promises'
import type {
  Access,
  SourceMessage,
  SourcePrincipal,
  SourceTerms,
  SourceThings,
  TakenMessage,
} from '../access/access.ts'
import { sourceFactsOf } from '../access/documents.ts'
import { Slices } from '../core/async/slices.ts'
import { promiseOf, type Ticket } from '../core/async/ticket.ts'
import { Turns } from '../core/async/turns.ts'
import type { Ingest } from '../core/ingest.ts'
import { listDocuments } from '../core/list-documents.ts'
import type { Nodes } from '../core/nodes.ts'
import type { Document, DocumentStore, RecordStore, WriteAnswer } from '../core/ports.ts'
import { valueText } from '../core/record/value.ts'
import { isRateExceeded } from '../core/refusals/door-refusals.ts'
import type { ReceiptClock } from '../core/time/clock.ts'
import { hashToken } from '../core/token.ts'
import { ThingwireError } from '../errors.ts'
import type {
  DeviceDescription,
  Fact,
  Outcome,
  Post,
  Reading,
  SentRecord,
  SourceFormat,
  SourceReader,
} from '../formats/format.ts'
import { SourceWrite, Taking } from './taking.ts'

export interface SourcesParts {
  readonly documents: DocumentStore
  readonly records: Pick<RecordStore, 'read'>
  readonly nodes: Pick<Nodes, 'onDocuments'>
  readonly clock: Pick<ReceiptClock, 'now'>
  readonly access: Pick<Access, 'onRevoke'>
  readonly ingest: Pick<Ingest, 'submit' | 'noteRejected'>
  readonly things: SourceThings
  readonly formatsOf: (terms: SourceTerms) => readonly SourceFormat[]
}

/** Maximum number of facts that a source teaches: a house with 1,000 things of 20 resources each. */
const mostFacts = 20_000

const topicsInMemory = 10_000
const noOptions = {}

/** Bytes. */
const longPayload = 65_536

/** `source-facts/<source id>/<format>/<hash of the name>` */
type FactDocument = { readonly name: string; readonly fact: Fact }

interface Format {
  readonly name: string
  readonly reader: SourceReader
}

interface Found {
  readonly format: Format
  readonly outcome: Outcome
}

/** A source whose messages this node reads. */
export class OpenSource {
  readonly #source: SourcePrincipal
  readonly #parts: SourcesParts
  readonly #formats: readonly Format[]
  /** By name of the document: the name of a fact, and its JSON. */
  readonly #facts = new Map<string, { readonly name: string; readonly text: string }>()
  /** By topic. Facts may change it. */
  readonly #formatOfTopic = new Map<string, Format>()
  readonly #turns = new Turns()
  /** Set while facts are looked up that another node was taught. A message waits for them: a device may have another name by now. */
  #hearing: Promise<unknown> | undefined
  /** By device: the description that is written last, as JSON, and descriptions whose writes have not begun. */
  readonly #described = new Map<string, string>()
  readonly #describing = new Map<string, Promise<void>>()
  /** By thing: the write that began last, until it ends. */
  readonly #writing = new Map<string, SourceWrite>()

  private constructor(source: SourcePrincipal, parts: SourcesParts) {
    this.#source = source
    this.#parts = parts
    this.#formats = parts
      .formatsOf(source.terms)
      .map(format => ({ name: format.name, reader: format.begin() }))
  }

  /** @throws ThingwireError if the store fails */
  static async open(source: SourcePrincipal, parts: SourcesParts): Promise<OpenSource> {
    const opened = new OpenSource(source, parts)
    const prefix = sourceFactsOf(source.sourceId)
    for await (const [rest, document] of listDocuments(parts.documents, prefix))
      opened.#hearFact(prefix + rest, document)
    return opened
  }

  /** @param names names of documents that another node may have changed */
  async hear(names: readonly string[]): Promise<void> {
    const prefix = sourceFactsOf(this.#source.sourceId)
    const changed = names.filter(name => name.startsWith(prefix))
    if (changed.length === 0) return
    const hearing = Promise.all([this.#hearing, ...changed.map(name => this.#hearAgain(name))])
    this.#hearing = hearing
    await hearing
    if (this.#hearing === hearing) this.#hearing = undefined
  }

  async #hearAgain(documentName: string): Promise<void> {
    const before = this.#facts.get(documentName)
    const document = await this.#parts.documents.get(documentName)
    // What this node was taught meanwhile is newer.
    if (this.#facts.get(documentName) === before) this.#hearFact(documentName, document)
  }

  #hearFact(documentName: string, document: Document | undefined): void {
    const [format] = documentName.slice(sourceFactsOf(this.#source.sourceId).length).split('/')
    const reader = this.#formats.find(({ name }) => name === format)?.reader
    const known = this.#facts.get(documentName)
    const { name = known?.name, fact = null } = (document ?? {}) as Partial<FactDocument>
    if (!reader || name === undefined) return
    if (fact) this.#facts.set(documentName, { name, text: JSON.stringify(fact) })
    else this.#facts.delete(documentName)
    this.#teach(reader, name, fact)
  }

  #teach(reader: SourceReader, name: string, fact: Fact | null): void {
    this.#formatOfTopic.clear()
    reader.learn(name, fact)
  }

  /** See `SourceMessages.take`. */
  take(message: SourceMessage, ticket: Ticket<TakenMessage>): void {
    const taking = new Taking(message, ticket)
    if (!this.#turns.isFree || this.#hearing || message.post) {
      taking.endWith(this.#takeInTurn(taking))
      return
    }
    // The usual message needs no promise: thousands would wait for the disk, and the collector would move each of them.
    const found = this.#readMessage(message)
    if (!found || this.#takeUsual(found.outcome, taking)) taking.end()
    else taking.endWith(this.#takeInTurn(taking, found))
  }

  /** @param read what is read already of the message; set if no message is before this one */
  async #takeInTurn(taking: Taking, read?: Found): Promise<void> {
    const { message } = taking
    const turn = this.#turns.take()
    try {
      const before = turn.wait()
      if (before) await before
      if (this.#hearing) await this.#hearing
      const found = read ?? (message.post ? this.#readPost(taking, message.post) : this.#readMessage(message))
      taking.reply = found?.outcome.reply
      if (found && !this.#takeUsual(found.outcome, taking)) await this.#takeAll(found, taking)
    } finally {
      turn.done()
    }
  }

  /** Begins the write of the usual message: one reading of a known device. @returns false if the message is another one */
  #takeUsual({ readings, facts, described, gone, unread }: Outcome, taking: Taking): boolean {
    const [reading] = readings
    if (!reading || readings.length > 1 || facts || described || gone || unread) return false
    const { device, records, writeId } = reading
    const thingId = this.#parts.things.known(this.#source.sourceId, device)
    if (thingId === undefined || taking.message.isRepeated) return false
    if (records.length > 0) this.#submit(thingId, records, taking, writeId)
    return true
  }

  async #takeAll({ format, outcome }: Found, taking: Taking): Promise<void> {
    const { message } = taking
    const begin = (task: Promise<void>) => {
      taking.begin()
      taking.endWith(task)
    }
    const { things } = this.#parts
    const { sourceId } = this.#source
    const { reader } = format
    const { readings, facts, described, gone, unread } = outcome
    for (const { place, reason } of unread ?? []) this.#note(taking, 'unread_message', place, reason)
    // To parse a long list takes a turn of the event loop.
    if (message.payload.length > longPayload) await nextTurn()
    const slices = new Slices()
    const keeping = facts && this.#keep(await this.#learn(format, facts, taking, slices))
    if (keeping) begin(keeping)
    for (const device of described ?? []) {
      await slices.pause()
      begin(this.#describe(reader, device, taking, keeping))
    }
    for (const device of gone ?? []) begin(things.markGone(sourceId, device, true))
    for (const reading of readings) {
      const { device, records, writeId } = reading
      const thingId = message.isRepeated ? undefined : things.known(sourceId, device)
      if (records.length === 0) continue
      if (thingId !== undefined) this.#submit(thingId, records, taking, writeId)
      else await this.#write(reader, reading, taking)
    }
  }

  #readMessage({
    topic,
    payload,
  }: {
    readonly topic: string
    readonly payload: Uint8Array
  }): Found | undefined {
    const format = this.#formatOf(topic)
    const receivedAt = this.#parts.clock.now()
    return format && { format, outcome: format.reader.read({ topic, payload, receivedAt }) }
  }

  /** @throws ThingwireError invalid_body if the body is of no format of the source */
  #readPost(taking: Taking, post: Post): Found {
    for (const format of this.#formats) {
      const outcome = format.reader.readPost?.(post)
      if (outcome) return { format, outcome }
    }
    const names = this.#formats.map(({ name }) => name).join(', ')
    const why = `the body must be of a format of the source (${names}), but it is of none`
    this.#note(taking, 'invalid_body', why)
    throw new ThingwireError('invalid_body', why)
  }

  #formatOf(topic: string): Format | undefined {
    const known = this.#formatOfTopic.get(topic)
    if (known) return known
    const format = this.#findFormat(topic)
    if (this.#formatOfTopic.size === topicsInMemory) this.#formatOfTopic.clear()
    if (format) this.#formatOfTopic.set(topic, format)
    return format
  }

  /** A format that was taught the topic goes before one that only knows its form. */
  #findFormat(topic: string): Format | undefined {
    let byForm: Format | undefined
    for (const format of this.#formats) {
      const knows = format.reader.knows(topic)
      if (knows === 'fact') return format
      if (knows === 'form') byForm ??= format
    }
    return byForm
  }

  /** @returns the documents of what is new */
  async #learn(
    { name: format, reader }: Format,
    facts: ReadonlyMap<string, Fact | null>,
    taking: Taking,
    slices: Slices,
  ): Promise<Readonly<Record<string, FactDocument | null>>> {
    const put: Record<string, FactDocument | null> = {}
    for (const [name, fact] of facts) {
      await slices.pause()
      const documentName = `${sourceFactsOf(this.#source.sourceId)}${format}/${hashToken(name)}`
      const text = fact && JSON.stringify(fact)
      if (text === (this.#facts.get(documentName)?.text ?? null)) continue
      if (text !== null && !this.#facts.has(documentName) && this.#facts.size >= mostFacts) {
        const why = `a source announces at most ${mostFacts} devices and resources`
        this.#note(taking, 'unread_message', name, why)
        continue
      }
      if (text === null) this.#facts.delete(documentName)
      else this.#facts.set(documentName, { name, text })
      this.#teach(reader, name, fact)
      put[documentName] = fact && { name, fact }
    }
    return put
  }

  /** Resolves when what was learned is durable. */
  async #keep(put: Readonly<Record<string, FactDocument | null>>): Promise<void> {
    if (Object.keys(put).length > 0) await this.#parts.documents.put(put, 'register')
  }

  /** Describes the thing of a device, if it has one. What a burst says while a description is being written is one more record. */
  #describe(
    reader: SourceReader,
    device: string,
    taking: Taking,
    keeping: Promise<void> | undefined,
  ): Promise<void> {
    const waiting = this.#describing.get(device)
    if (waiting) return waiting
    const { alias } = reader.describe(device) ?? {}
    const describing = Promise.resolve(keeping).then(async () => {
      // By its name alone, where the facts are not known, the device would get a second thing from now on.
      const found = await this.#parts.things.thingOf(this.#source, device, alias, undefined)
      this.#describing.delete(device)
      if (!found) return
      await this.#parts.things.markGone(this.#source.sourceId, device, false)
      const records = this.#descriptionOf(device, reader.describe(device))
      if (records.length === 0) return
      // Each message that waits for the description fails if the description does.
      const { refused } = await promiseOf<TakenMessage>(ticket => {
        const own = new Taking(taking.message, ticket)
        this.#submit(found.thingId, records, own)
        own.end()
      })
      taking.refused ??= refused
    })
    this.#describing.set(device, describing)
    // A failure of the store must not stay.
    describing.catch(() => this.#describing.delete(device))
    return describing
  }

  /** The `$meta` record of a description that was not written yet; none if there is nothing new. */
  #descriptionOf(device: string, description: DeviceDescription | undefined): readonly SentRecord[] {
    const described = Object.entries(description?.resources ?? {}).map(([key, members]) => {
      return [key, { ...members, discovered: Object.keys(members) }] as const
    })
    const value = Object.fromEntries(described.filter(([, { discovered }]) => discovered.length > 0))
    const text = JSON.stringify(value)
    if (text === '{}' || this.#described.get(device) === text) return []
    this.#described.set(device, text)
    return [{ key: '$meta', value }]
  }

  /** Writes to a thing that must be looked up or made, or only what is new of a repeated message. */
  async #write(reader: SourceReader, reading: Reading, taking: Taking): Promise<void> {
    const { message } = taking
    const { device, alias, records, writeId } = reading
    const description = reader.describe(device)
    // It may give the device a thing that was made by a name which the device has no more.
    await this.#describing.get(device)
    try {
      const name = description?.name ?? alias ?? device
      const known = this.#parts.things.known(this.#source.sourceId, device)
      const found = known
        ? { thingId: known, isNew: false }
        : await this.#parts.things.thingOf(this.#source, device, alias, name)
      if (!found)
        throw new ThingwireError(
          'too_many_things',
          `the source makes no things, and none has the device ${device}`,
        )
      const { thingId, isNew } = found
      const fresh = message.isRepeated ? await this.#withoutKnown(thingId, records) : records
      const all = isNew ? [...fresh, ...this.#descriptionOf(device, description)] : fresh
      if (all.length > 0) this.#submit(thingId, all, taking, writeId)
    } catch (error) {
      if (!(error instanceof ThingwireError) || error.reason !== 'too_many_things') throw error
      this.#note(taking, error.reason, error.message)
    }
  }

  /** Leaves out the records that say what the latest records of their keys say, without a time of their own. */
  async #withoutKnown(thingId: string, records: readonly SentRecord[]): Promise<readonly SentRecord[]> {
    // A client may send what waits for an ack again, and then everything: the first copy may not be stored yet.
    await this.#writing.get(thingId)?.ended()
    const isKnown = await Promise.all(
      records.map(async ({ key, value, datetime, geo }) => {
        if (datetime !== undefined || geo !== undefined) return false
        const page = await this.#parts.records.read(thingId, key, { order: 'desc', limit: 1 })
        return page?.records[0]?.value === valueText(value)
      }),
    )
    return records.filter((_, place) => !isKnown[place])
  }

  /** Begins a write that the message waits for. */
  #submit(thingId: string, values: readonly SentRecord[], taking: Taking, writeId = taking.message.id): void {
    const { door, payload: body, lock, sender } = taking.message
    const write = new SourceWrite(thingId, values, taking, this.#ends)
    taking.begin()
    this.#writing.set(thingId, write)
    const content = { values, partial: true }
    const options = writeId === undefined ? noOptions : { id: writeId }
    try {
      this.#parts.ingest.submit(
        { thingId, door, body, lock, sender, isSources: true, content, options },
        write,
      )
    } catch (error) {
      write.reject(error)
    }
  }

  readonly #ends = {
    written: (write: SourceWrite, { rejected = [] }: WriteAnswer) => {
      const { taking, values } = write
      for (const { index, reason, message } of rejected)
        this.#note(taking, reason, values[index]?.key ?? '', message)
      this.#endWrite(write)
    },
    failed: (write: SourceWrite, error: unknown) => {
      const isFinal = error instanceof ThingwireError && (!error.retryable || isRateExceeded(error))
      // A description may be among the records.
      if (!isFinal) this.#described.clear()
      else this.#note(write.taking, error.reason, error.message)
      this.#endWrite(write, isFinal ? undefined : error)
    },
  }

  #endWrite(write: SourceWrite, error?: unknown): void {
    const { thingId, taking } = write
    if (this.#writing.get(thingId) === write) this.#writing.delete(thingId)
    taking.end(error)
  }

  #note(taking: Taking, reason: ThingwireError['reason'], ...texts: readonly string[]): void {
    const { topic = '', door } = taking.message
    const joined = (parts: readonly string[]) => parts.filter(text => text !== '').join(': ')
    taking.refused ??= joined(texts)
    const error = new ThingwireError(reason, joined([topic, ...texts]))
    this.#parts.ingest.noteRejected(this.#source.sourceId, error, door)
  }
}
