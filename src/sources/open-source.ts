import { setImmediate as nextTurn } from 'node:timers/promises'
import type {
  Access,
  SourceMessage,
  SourcePrincipal,
  SourceTerms,
  SourceThings,
  TakenMessage,
} from '../access/access.ts'
import { Slices } from '../core/async/slices.ts'
import { promiseOf, type Ticket } from '../core/async/ticket.ts'
import { Turns } from '../core/async/turns.ts'
import type { Ingest } from '../core/ingest.ts'
import type { Nodes } from '../core/nodes.ts'
import type { DocumentStore, RecordStore, WriteAnswer } from '../core/ports.ts'
import { valueText } from '../core/record/value.ts'
import { isRateExceeded } from '../core/refusals/door-refusals.ts'
import type { ReceiptClock } from '../core/time/clock.ts'
import { ThingwireError } from '../errors.ts'
import {
  type DeviceDescription,
  type Outcome,
  type Post,
  partsOf,
  type Reading,
  type SentRecord,
  type SourceFormat,
} from '../formats/format.ts'
import { type FactDocuments, type OpenFormat, SourceFormats } from './source-formats.ts'
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

const noOptions = {}

/** Milliseconds. */
const longestSlice = 2

/** Bytes. */
const longPayload = 65_536

interface Found {
  readonly format: OpenFormat
  readonly outcome: Outcome
}

/** A source whose messages this node reads. */
export class OpenSource {
  readonly #source: SourcePrincipal
  readonly #parts: SourcesParts
  readonly #formats: SourceFormats
  readonly #turns = new Turns()
  /** Messages that are not usual come in bursts of thousands. Reading and relaying have slices of their own in each turn. */
  readonly #slices = new Slices(longestSlice)
  /** By device: the description that is written last, as JSON, and descriptions whose writes have not begun. */
  readonly #described = new Map<string, string>()
  readonly #describing = new Map<string, Promise<void>>()
  /** By thing: the write that began last, until it ends. */
  readonly #writing = new Map<string, SourceWrite>()

  private constructor(source: SourcePrincipal, formats: SourceFormats, parts: SourcesParts) {
    this.#source = source
    this.#formats = formats
    this.#parts = parts
  }

  /** @throws ThingwireError if the store fails */
  static async open(source: SourcePrincipal, parts: SourcesParts): Promise<OpenSource> {
    const formats = await SourceFormats.open(source, parts.formatsOf(source.terms), parts.documents)
    return new OpenSource(source, formats, parts)
  }

  /** @param names names of documents that another node may have changed */
  hear(names: readonly string[]): Promise<void> {
    return this.#formats.hear(names)
  }

  /** See `SourceMessages.take`. */
  take(message: SourceMessage, ticket: Ticket<TakenMessage>): void {
    const taking = new Taking(message, ticket)
    const isLong = message.payload.length > longPayload
    if (!this.#turns.isFree || this.#formats.hearing || message.post || isLong) {
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
      // To parse a long list takes a turn of the event loop.
      const isLong = message.payload.length > longPayload
      const pause = isLong ? nextTurn() : this.#slices.pause()
      if (pause) await pause
      const { hearing } = this.#formats
      if (hearing) await hearing
      // Facts may have changed meanwhile.
      const known = pause || hearing ? undefined : read
      const found =
        known ?? (message.post ? this.#readPost(taking, message.post) : this.#readMessage(message))
      taking.reply = found?.outcome.reply
      if (found && !this.#takeUsual(found.outcome, taking)) await this.#takeAll(found, taking)
    } finally {
      turn.done()
    }
  }

  /** Begins the write of the usual message: one reading of a known device. @returns false if the message is another one */
  #takeUsual({ readings, facts, described, gone, unread, more }: Outcome, taking: Taking): boolean {
    const [reading] = readings
    if (!reading || readings.length > 1 || facts || described || gone || unread || more) return false
    const { device, records, writeId } = reading
    const thingId = this.#parts.things.known(this.#source.sourceId, device)
    if (thingId === undefined || taking.message.isRepeated) return false
    if (records.length > 0) this.#submit(thingId, records, taking, writeId)
    return true
  }

  async #takeAll({ format, outcome }: Found, taking: Taking): Promise<void> {
    if (taking.message.payload.length > longPayload) await nextTurn()
    const slices = this.#slices
    const { things } = this.#parts
    const { sourceId } = this.#source
    const onMany = (name: string, why: string) => this.#note(taking, 'unread_message', name, why)
    const parts: Outcome[] = []
    const learned: FactDocuments = {}
    for (const part of partsOf(outcome)) {
      for (const { device = '', place, reason } of part.unread ?? [])
        this.#note(taking, 'unread_message', device, place, reason)
      if (part.facts) this.#formats.learn(format, part.facts, learned, onMany)
      parts.push(part)
      await slices.pause()
    }
    const keeping = this.#formats.keep(learned)
    if (keeping) taking.await(keeping)
    for (const { described, gone, readings } of parts) {
      for (const device of described ?? []) taking.await(this.#describe(device, taking, keeping))
      for (const device of gone ?? [])
        if (!this.#formats.describe(device)) taking.await(things.markGone(sourceId, device, true))
      for (const reading of readings) await this.#takeReading(reading, taking)
      await slices.pause()
    }
  }

  async #takeReading(reading: Reading, taking: Taking): Promise<void> {
    const { device, records, writeId } = reading
    const { isRepeated } = taking.message
    const thingId = isRepeated ? undefined : this.#parts.things.known(this.#source.sourceId, device)
    if (records.length === 0) return
    if (thingId !== undefined) this.#submit(thingId, records, taking, writeId)
    else await this.#write(reading, taking)
  }

  #readMessage({
    topic,
    payload,
  }: {
    readonly topic: string
    readonly payload: Uint8Array
  }): Found | undefined {
    const format = this.#formats.ofTopic(topic)
    const receivedAt = this.#parts.clock.now()
    return format && { format, outcome: format.reader.read({ topic, payload, receivedAt }) }
  }

  /** @throws ThingwireError invalid_body if the body is of no format of the source */
  #readPost(taking: Taking, post: Post): Found {
    for (const format of this.#formats.all) {
      const outcome = format.reader.readPost?.(post)
      if (outcome) return { format, outcome }
    }
    const names = this.#formats.all.flatMap(({ name, reader }) => (reader.readPost ? name : []))
    const why =
      names.length === 0
        ? 'the source must have a format of webhooks, such as ttn, but it has none'
        : `the body must be of a format of the source that webhooks post (${names.join(', ')}), but it is of none`
    this.#note(taking, 'invalid_body', why)
    throw new ThingwireError('invalid_body', why)
  }

  /** Describes the thing of a device, if it has one. What a burst says while a description is being written is one more record. */
  #describe(device: string, taking: Taking, keeping: Promise<void> | undefined): Promise<void> {
    const waiting = this.#describing.get(device)
    if (waiting) return waiting
    const { alias } = this.#formats.describe(device) ?? {}
    const describing = Promise.resolve(keeping).then(async () => {
      // By its name alone, where the facts are not known, the device would get a second thing from now on.
      const found = await this.#parts.things.thingOf(this.#source, device, alias, undefined)
      this.#describing.delete(device)
      if (!found) return
      await this.#parts.things.markGone(this.#source.sourceId, device, false)
      const records = this.#descriptionOf(device, this.#formats.describe(device))
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
  async #write(reading: Reading, taking: Taking): Promise<void> {
    const { message } = taking
    const { device, alias, records, writeId } = reading
    const description = this.#formats.describe(device)
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
      const { taking, values, thingId } = write
      // A post has no topic that names the device.
      const where = taking.message.topic === undefined ? `thing ${thingId}` : ''
      for (const { index, reason, message } of rejected)
        this.#note(taking, reason, where, values[index]?.key ?? '', message)
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
