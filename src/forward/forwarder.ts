import { setMaxListeners } from 'node:events'
import { rest } from '../core/async/retry-until.ts'
import { recordCount } from '../core/commit-outline.ts'
import type { ForwardReport, ForwardReporter, RefusedRecord } from '../core/forward-report.ts'
import type { Lock } from '../core/locks.ts'
import type { Nodes } from '../core/nodes.ts'
import type { Commit, DocumentStore, RecordStore } from '../core/ports.ts'
import type { Live, LoggedWrite, LogReader } from '../live/index.ts'
import { activate, Connection, ThingHeld } from './connection.ts'
import { Feed } from './feed.ts'
import { Feeds } from './feeds.ts'
import { type ForwardLog, ForwardNotices } from './forward-notices.ts'
import { ByteBudget, Link } from './link.ts'
import { Progress } from './progress.ts'
import type { Target } from './target.ts'
import type { ThingMap } from './thing-map.ts'
import { Waiting } from './waiting.ts'

export interface ForwardOptions {
  readonly target: Target
  readonly map: ThingMap
  /** Default: no limit. */
  readonly bytesPerSecond?: number | undefined
  /** Maximum size of unforwarded records, bytes; above it, the oldest records are dropped. */
  readonly logLimit: number
  readonly log: ForwardLog
}

interface ForwarderParts {
  readonly records: Pick<RecordStore, 'readLog' | 'onCommit'>
  readonly documents: DocumentStore
  readonly nodes: Pick<Nodes, 'lead'>
  readonly live: Live
}

/** Interval at which the position is stored, milliseconds. After a crash, records sent in the last interval may be sent again. */
const keepEvery = 2_000

/**
 * Forwards the records of things to a central server (contract §11).
 *
 * ```
 *  commit log ──► feed of each thing ──► batch ──► connection of the thing ──► PUBACK
 *   from the position                                                            │
 *        ▲──────────────────── documents `forward/…` ◄───────────────────────────┘
 * ```
 *
 * The log is read once for all things, from one position. If the central server refuses a thing, the thing gets a separate position
 * (it is *apart*), so that it does not delay other things.
 */
export class Forwarder implements LogReader, ForwardReporter {
  readonly #options: ForwardOptions
  readonly #progress: Progress
  readonly #notices: ForwardNotices
  readonly #link: Link
  readonly #activations: Activations
  readonly #budget: ByteBudget
  readonly #stop = new AbortController()
  readonly #feeds: Feeds
  readonly #waiting: Waiting
  #mapProblem: string | undefined
  readonly #sent = { records: 0, bytes: 0 }
  #cut: number
  #dropped: number
  readonly #stopListening: readonly (() => void)[]
  readonly #stopLeading: () => Promise<void>

  private constructor(parts: ForwarderParts, options: ForwardOptions, progress: Progress) {
    const { target, map, bytesPerSecond, log } = options
    const { records, live, nodes } = parts
    // No limit, because each feed that waits for the link adds a listener to the signal.
    setMaxListeners(0, this.#stop.signal)
    this.#options = options
    this.#progress = progress
    this.#notices = new ForwardNotices(log)
    if (progress.leftAt !== undefined) this.#notices.left(progress.leftAt)
    const { after, cut, dropped, apart } = progress.kept
    this.#cut = cut
    this.#dropped = dropped
    this.#link = new Link(target, problem => this.#notices.link(target.url, problem))
    this.#activations = new Activations(map, this.#link)
    this.#budget = new ByteBudget(bytesPerSecond)
    const start = live.keptWriteNumber
    this.#waiting = new Waiting(Math.max(cut, Math.min(after, ...apart.values())), start)
    const ofFeeds = {
      records,
      isForwarded: (thingId: string) => map.has(thingId),
      makeFeed: (...feed: [string, number, boolean]) => this.#makeFeed(...feed),
      stop: this.#stop.signal,
    }
    this.#feeds = new Feeds(ofFeeds, progress.kept, cut, start)
    live.log.keepFor(this)
    this.#stopListening = [
      records.onCommit(commit => this.#take(commit)),
      map.watch(fault => {
        this.#mapProblem = fault?.message
        this.#notices.map(fault)
        this.#mapChanged()
      }),
    ]
    this.#stopLeading = nodes.lead('forward', (_stop, lock) => this.#run(lock))
  }

  /** Continues from the stored position. Call this before anything is written. @throws ThingwireError if the store fails */
  static async open(parts: ForwarderParts, options: ForwardOptions): Promise<Forwarder> {
    const progress = await Progress.open(parts.documents, parts.live.keptWriteNumber)
    return new Forwarder(parts, options, progress)
  }

  wants({ thingId, records }: LoggedWrite): boolean {
    return records.length > 0 && this.#options.map.has(thingId)
  }

  async startTrim(): Promise<(commit: Commit) => boolean> {
    return commit => this.#options.map.has(commit.thingId) && this.#progress.isNeeded(commit)
  }

  get named(): readonly string[] {
    return this.#options.map.named
  }

  omits(thingId: string): boolean {
    return this.#options.map.omits(thingId)
  }

  /** Number and bytes of the records that are neither acknowledged nor refused yet. */
  get waiting(): Pick<Waiting, 'records' | 'bytes'> {
    return this.#waiting
  }

  /** Number and bytes of records acknowledged since the start of the process. */
  get sent(): { readonly records: number; readonly bytes: number } {
    return this.#sent
  }

  /** Number of records refused since forwarding began. */
  get refusedCount(): number {
    return this.#progress.refusedCount
  }

  /** Number of records dropped since forwarding began. */
  get dropped(): number {
    return this.#dropped
  }

  get connections(): number {
    return this.#link.connections
  }

  get heldCount(): number {
    return this.#held().length
  }

  /** Receipt time of the oldest unforwarded record, milliseconds since 1970, as far as known; undefined if there is none. */
  get oldest(): number | undefined {
    const times = this.#feeds.all.flatMap(({ oldest, oldestElsewhere }) => [
      ...(oldest ? [oldest.receivedAt] : []),
      ...(oldestElsewhere === undefined ? [] : [oldestElsewhere]),
    ])
    return times.length === 0 ? undefined : times.reduce((one, other) => Math.min(one, other))
  }

  async report(limit: number): Promise<ForwardReport> {
    const { oldest } = this
    const { problem } = this.#link
    const { records, bytes, isCounted } = this.#waiting
    return {
      target: this.#options.target.url,
      isConnected: this.connections > 0,
      ...(problem !== undefined && { problem }),
      ...(this.#mapProblem !== undefined && { mapProblem: this.#mapProblem }),
      waiting: { records, bytes },
      isCounted,
      ...(oldest !== undefined && { oldest }),
      forwarded: { ...this.#sent },
      refusedCount: this.refusedCount,
      dropped: this.#dropped,
      held: this.#held().flatMap(({ thingId, held }) => (held ? [{ thingId, ...held }] : [])),
      refused: await this.#progress.refused(limit),
      activated: this.#options.map.activated,
    }
  }

  /** Stops sending, and stores the position. */
  async close(): Promise<void> {
    for (const stop of this.#stopListening) stop()
    this.#stop.abort()
    this.#link.close()
    this.#feeds.wake()
    for (const feed of this.#feeds.all) feed.wake()
    await this.#stopLeading()
  }

  /** Never rejects. */
  async #run(lock: Lock): Promise<void> {
    const { signal } = this.#stop
    await Promise.all([
      this.#again(() => this.#feeds.run()),
      this.#again(() => this.#count()),
      this.#keepPosition(lock),
    ])
    await this.#keep(lock)
    this.#link.close()
    if (!signal.aborted) this.#stop.abort()
  }

  /** Repeats the work after each failure, until it is done or `#stop` is aborted. */
  async #again(work: () => Promise<void>): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      try {
        return await work()
      } catch (error) {
        if (!signal.aborted) this.#notices.store(error)
        await rest(1_000, signal)
      }
    }
  }

  #take(commit: Commit): void {
    if (!commit.stored) return
    const { thingId, writeNumber } = commit
    if (recordCount(commit) > 0 && this.#options.map.has(thingId)) {
      this.#waiting.add(commit)
      this.#noteBehind(commit)
      this.#keepWithinLimit()
    }
    this.#feeds.delivered(writeNumber)
  }

  /** A feed that is behind has not read its records yet, but `oldest` needs the receipt time of the oldest record. */
  #noteBehind({ thingId, writeNumber, receivedAt }: Commit): void {
    const feed = this.#feeds.get(thingId)
    if (feed?.isBehind && writeNumber > feed.filledTo) feed.oldestElsewhere ??= receivedAt
  }

  async #count(): Promise<void> {
    await this.#waiting.count(
      (after, upTo) => this.#feeds.page(after, upTo),
      commit => this.#feeds.isPassed(commit),
      commit => this.#noteBehind(commit),
      this.#stop.signal,
    )
    this.#keepWithinLimit()
  }

  #keepWithinLimit(): void {
    const { logLimit } = this.#options
    const cut = this.#waiting.cut(logLimit)
    if (!cut) return
    this.#cut = cut.upTo
    this.#dropped += cut.records
    this.#feeds.cut(cut.upTo)
    this.#notices.dropped(this.#dropped, logLimit)
  }

  #makeFeed(thingId: string, filledTo: number, isBehind: boolean): Feed {
    const notices = this.#notices
    const parts = {
      thingId,
      link: this.#link,
      budget: this.#budget,
      stop: this.#stop.signal,
      token: () => this.#tokenOf(thingId),
      onPassed: (commits: readonly Commit[]) => {
        for (const commit of commits) this.#waiting.pass(commit)
        this.#feeds.wake()
      },
      onSent: (records: number, bytes: number) => {
        this.#sent.records += records
        this.#sent.bytes += bytes
      },
      onRefused: (refused: RefusedRecord) => {
        this.#progress.addRefused(refused)
        notices.refused(refused, this.refusedCount)
      },
      onHeld: (_feed: Feed, why: string) => notices.held(thingId, why),
      onFreed: () => {
        notices.freed(thingId)
        this.#feeds.wake()
      },
    }
    return new Feed(parts, filledTo, isBehind)
  }

  async #tokenOf(thingId: string): Promise<string> {
    const passage = this.#options.map.passageOf(thingId)
    if (!passage) throw new ThingHeld('the thing map no longer names it')
    if ('token' in passage) return passage.token
    return await this.#activations.tokenFor(thingId, this.#stop.signal)
  }

  async #keepPosition(lock: Lock): Promise<void> {
    while (!this.#stop.signal.aborted) {
      await rest(keepEvery, this.#stop.signal)
      await this.#keep(lock)
      this.#notices.backlog(this.#waiting, this.#sent.records, this.oldest)
    }
  }

  /** Never rejects. After a crash, records after the stored position are sent again. */
  async #keep(lock: Lock): Promise<void> {
    const { after, apart } = this.#feeds.position()
    try {
      await this.#progress.keep({ after, apart, cut: this.#cut, dropped: this.#dropped }, lock)
    } catch (error) {
      this.#notices.store(error)
    }
    this.#waiting.clear(Math.min(after, ...apart.values()))
  }

  #held(): readonly Feed[] {
    return this.#feeds.all.filter(({ thingId, held }) => held && this.#options.map.has(thingId))
  }

  #mapChanged(): void {
    for (const feed of this.#feeds.all) {
      const passage = this.#options.map.passageOf(feed.thingId)
      feed.useToken(passage && 'token' in passage ? passage.token : undefined)
    }
    this.#feeds.wake()
  }
}

/**
 * Activates things that have only an activation code, one after another: until a thing has used its token, each activation with the
 * code returns the same thing (contract §6.2, activation). This way, no use of the code is lost if this process dies before the
 * token is stored.
 */
class Activations {
  readonly #map: ThingMap
  readonly #link: Link
  #latest: Promise<unknown> = Promise.resolve()

  constructor(map: ThingMap, link: Link) {
    this.#map = map
    this.#link = link
  }

  /** @throws LinkDown, ThingHeld */
  tokenFor(thingId: string, stop: AbortSignal): Promise<string> {
    const activating = this.#latest.catch(() => {}).then(() => this.#tokenFor(thingId, stop))
    this.#latest = activating
    return activating
  }

  async #tokenFor(thingId: string, stop: AbortSignal): Promise<string> {
    const passage = this.#map.passageOf(thingId)
    if (!passage) throw new Error('the thing map no longer names it')
    if ('token' in passage) return passage.token
    return await this.#link.attempt(stop, async target => {
      const activated = await activate(target, passage.code)
      await this.#map.keep(thingId, activated)
      // The token must be used now, because the next activation with the same code would otherwise return the same thing.
      const connection = await Connection.open(target, activated.token, `forward.${thingId}`)
      connection.close()
      return activated.token
    })
  }
}
