import { listDocuments } from '../../core/list-documents.ts'
import type { Commit, DocumentStore } from '../../core/ports.ts'
import { LiveWrite, type LoggedWrite, type LogReader } from '../../live/index.ts'
import { sessionPrefix } from '../relay/documents.ts'
import { Interests, refsOf, type Subscription, wantedCopies } from './interest.ts'
import { maximumMissed, payloadOf } from './missed.ts'
import type { MqttSessionDocument } from './session-documents.ts'
import { placeOfCopy, Unacked } from './unacked.ts'

/** Makes the log keep the commits that persistent sessions may still need. */
export class SessionLog implements LogReader {
  readonly #documents: DocumentStore
  readonly #coverage = new Coverage()

  private constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  /** Reads the subscriptions of all stored sessions. @throws ThingwireError if the store fails */
  static async open(documents: DocumentStore): Promise<SessionLog> {
    const log = new SessionLog(documents)
    for await (const [clientId, { subscriptions }] of log.#sessions()) log.cover(clientId, subscriptions)
    return log
  }

  /** From now on the log keeps commits for these subscriptions. @param subscriptions all subscriptions of the session */
  cover(clientId: string, subscriptions: Iterable<Omit<Subscription, 'from'>>): void {
    this.#coverage.set(clientId, refsAtQoS1(subscriptions))
  }

  wants({ thingId, broadcast }: LoggedWrite): boolean {
    return broadcast && this.#coverage.has(thingId)
  }

  async startTrim(): Promise<(commit: Commit) => boolean> {
    /** Needs of sessions by thing id, or `+` for every thing. */
    const needs = new Map<string, Need[]>()
    for await (const [, session] of this.#sessions()) {
      const need = new Need(session)
      for (const ref of refsAtQoS1(session.subscriptions)) needs.set(ref, [...(needs.get(ref) ?? []), need])
    }
    return commit => {
      if (!commit.broadcast) return false
      const write = new LiveWrite(commit)
      const ofThing = new Set([...(needs.get(commit.thingId) ?? []), ...(needs.get('+') ?? [])])
      // `some` would stop at the first session that needs the write, but every such session must count it.
      return [...ofThing].filter(need => need.take(write)).length > 0
    }
  }

  async *#sessions(): AsyncGenerator<[clientId: string, MqttSessionDocument]> {
    for await (const [name, document] of listDocuments<MqttSessionDocument>(this.#documents, sessionPrefix)) {
      yield [decodeURIComponent(name), document]
    }
  }
}

/** Counts the messages that one session may still get from the log, newest first. */
class Need {
  readonly #unacked: Unacked
  readonly #interests: Interests
  #messages = 0
  #bytes = 0

  constructor({ acked, sent, subscriptions }: MqttSessionDocument) {
    this.#unacked = new Unacked(acked, sent)
    this.#interests = new Interests(subscriptions)
  }

  /** @returns whether the session needs the write */
  take(write: LiveWrite): boolean {
    if (this.#messages >= maximumMissed.messages || this.#bytes > maximumMissed.bytes) return false
    const { writeNumber } = write.commit
    const interest = this.#interests.missedOf(write)
    let isNeeded = false
    for (let place = 0; place <= write.wholePlace; place++) {
      for (const { identifier } of wantedCopies(write, place, interest)) {
        if (!this.#unacked.owed({ writeNumber, place: placeOfCopy(place, identifier) })) continue
        isNeeded = true
        this.#messages++
        this.#bytes += payloadOf(write, place).length
      }
    }
    return isNeeded
  }
}

/** The things of the subscriptions at QoS 1 and 2: ids, or `+` for every thing. */
function refsAtQoS1(subscriptions: Iterable<Omit<Subscription, 'from'>>): Set<string> {
  const refs = new Set<string>()
  for (const subscription of subscriptions) {
    if (subscription.qos > 0) for (const ref of refsOf(subscription)) refs.add(ref)
  }
  return refs
}

/** The things that at least one client wants messages about. */
export class Coverage {
  readonly #thingsOf = new Map<string, ReadonlySet<string>>()
  /** Number of clients by thing id, or `+` for every thing. */
  readonly #counts = new Map<string, number>()

  /** @param refs thing ids, or `+` for every thing; they replace the refs that were set for the client before */
  set(clientId: string, refs: ReadonlySet<string>): void {
    const before = this.#thingsOf.get(clientId)
    if (refs.size > 0) this.#thingsOf.set(clientId, refs)
    else this.#thingsOf.delete(clientId)
    for (const ref of refs) this.#counts.set(ref, (this.#counts.get(ref) ?? 0) + 1)
    for (const ref of before ?? []) {
      const count = (this.#counts.get(ref) ?? 0) - 1
      if (count > 0) this.#counts.set(ref, count)
      else this.#counts.delete(ref)
    }
  }

  has(thingId: string): boolean {
    return this.#counts.has(thingId) || this.#counts.has('+')
  }
}
