import type { Geo } from '../core/record/geo.ts'

/** A record as a write spells it (contract §2.1); ingest checks it like every other record. */
export interface SentRecord {
  readonly key: string
  readonly value: unknown
  /** A text of contract §2.1. Absent: the message does not say for certain when it was measured, so the receipt time counts. */
  readonly datetime?: string
  readonly geo?: Geo
}

/** Reads what one thing sends to its own address, `things/<token>/write/<format>/<levels>` (contract §2.4). Pure. */
export interface OwnFormat {
  readonly name: string
  /**
   * @param levels the topic levels, or path segments, after the name of the format
   * @returns no records if the message holds no reading, such as `unavailable`
   * @throws ThingwireError with a message that names what the format wants
   */
  read(levels: readonly string[], body: Uint8Array): readonly SentRecord[]
}

/** A message that a source has published. */
export interface Message {
  readonly topic: string
  readonly payload: Uint8Array
  /** Receipt time, milliseconds. */
  readonly receivedAt: number
}

/** What a webhook has posted. A format finds the device in the body, the query or the headers, since there is no topic. */
export interface Post {
  /** The parsed JSON; a text: lines in a protocol of their own. */
  readonly body: unknown
  readonly query: Readonly<Record<string, unknown>>
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, unknown>>
}

/** What a discovery message teaches about one device or entity: a small JSON object that the format can read again. */
export type Fact = Readonly<Record<string, unknown>>

/** The records of one device. */
export interface Reading {
  /** Identifies the device within its source: MAC, IEEE address, `identifiers`; else the name in the topic. */
  readonly device: string
  /**
   * The name in the topic, if `device` is an identifier: a thing that was made by this name alone is the same device. An identifier that
   * is also the name is its own alias.
   */
  readonly alias?: string
  readonly records: readonly SentRecord[]
  /** A write id that the message carries, 1 to 64 printable ASCII characters: a repeated message is stored once. */
  readonly writeId?: string
}

/** Something in a message that the format cannot read, for the list of the source. */
export interface Unread {
  /** The device that sent the message, if it has no topic that names the device. */
  readonly device?: string
  /** Where in the message, such as `params.switch:0` or `line 3`; empty: the whole message. */
  readonly place: string
  /** Why, and what was wanted instead: a sentence without a full stop and without content of the message but names. */
  readonly reason: string
}

/** What a format has read in one message. */
export interface Outcome {
  readonly readings: readonly Reading[]
  /** What the message taught, by name; null: what was learned under this name is void. */
  readonly facts?: ReadonlyMap<string, Fact | null>
  /** Devices whose description the facts may have changed. */
  readonly described?: readonly string[]
  /** Devices that the message declares gone. */
  readonly gone?: readonly string[]
  readonly unread?: readonly Unread[]
  /** The parts of a long list, which are read one after another in several turns of the event loop. */
  readonly more?: Iterable<Outcome>
  /** The JSON that the sender of a post wants as the answer. Default: that of a write. */
  readonly reply?: unknown
}

/** The outcome, and then the parts of its long list. */
export function* partsOf(outcome: Outcome): Generator<Outcome> {
  yield outcome
  yield* outcome.more ?? []
}

/** The outcome with its long list in it. */
export function wholeOf(outcome: Outcome): Outcome {
  if (!outcome.more) return outcome
  const parts = [...partsOf(outcome)]
  return {
    readings: parts.flatMap(({ readings }) => readings),
    facts: new Map(parts.flatMap(({ facts }) => [...(facts ?? [])])),
    described: parts.flatMap(({ described = [] }) => described),
    gone: parts.flatMap(({ gone = [] }) => gone),
    unread: parts.flatMap(({ unread = [] }) => unread),
  }
}

/** A member of `$meta` (contract §5.3), as a device describes it. Null removes what the device has said before. */
export interface ResourceDescription {
  readonly name?: string | null
  readonly unit?: string | null
  readonly kind?: string | null
  readonly total?: boolean | null
  readonly decimals?: number | null
  readonly hidden?: boolean | null
}

export interface DeviceDescription {
  /** How the device names itself; the name of its thing. */
  readonly name?: string
  /** See `Reading.alias`. */
  readonly alias?: string
  /** By key of the resource. */
  readonly resources: Readonly<Record<string, ResourceDescription>>
}

/**
 * Reads the messages of one source. Holds nothing but facts, so that a reader with the same facts reads a message in the same way, on
 * any node and after a restart.
 */
export interface SourceReader {
  /**
   * Whether messages on this topic are of the format: because a fact names the topic (`fact`), or by the form of the topic alone
   * (`form`). The service prefers `fact` among several formats.
   */
  knows(topic: string): 'fact' | 'form' | undefined
  /** Reads a message on a topic that `knows` accepts. Never throws. Does not learn: see `learn`. */
  read(message: Message): Outcome
  /** Reads what a webhook has posted, as `read` reads a message. Undefined if the body is not of this format. */
  readPost?(post: Post): Outcome | undefined
  /** Takes a fact that `read` returned, on this node or another one, now or before a restart. */
  learn(name: string, fact: Fact | null): void
  /** What the facts say of a device; undefined if nothing. */
  describe(device: string): DeviceDescription | undefined
}

/** A format of many devices behind one source. */
export interface SourceFormat {
  readonly name: string
  begin(): SourceReader
}
