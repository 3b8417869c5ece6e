import { ThingwireError } from '../../errors.ts'
import type { LatestOfThing, LatestQuery, Snapshot } from '../contract.ts'
import { latestPages } from '../latest-pages.ts'
import type { RedisDatabase } from './connection/database.ts'
import { isBetween, type ResourceName, readLatest } from './latest.ts'
import type { Follower } from './log/follower.ts'
import { decodeState } from './record-member.ts'

type Undoing = Pick<Follower, 'reached' | 'remember' | 'undoSince'>

/**
 * The states and latest records as of a commit, read while writes continue. Redis has no snapshots, but records are never
 * overwritten: the newest record as of the commit is found by its write number. States and records that were replaced or removed
 * after the commit are taken from the log. A snapshot lacks things that were removed after the commit, and records that were
 * removed after a newer record was added.
 */
export class RedisSnapshot implements Snapshot {
  readonly writeNumber: number
  readonly #database: RedisDatabase
  readonly #follower: Undoing
  readonly #forget: () => void
  #isClosed = false

  /** @param writeNumber number of the newest delivered commit */
  constructor(database: RedisDatabase, follower: Undoing, writeNumber: number) {
    this.#database = database
    this.#follower = follower
    this.writeNumber = writeNumber
    this.#forget = follower.remember()
  }

  async *latest(query: LatestQuery): AsyncIterable<readonly LatestOfThing[]> {
    for await (const page of latestPages(this.#find(query))) {
      this.#assertOpen()
      yield page
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#forget()
  }

  async *#find(query: LatestQuery): AsyncIterable<readonly LatestOfThing[]> {
    let after: ResourceName | undefined
    do {
      this.#assertOpen()
      const piece = await readLatest(this.#database, this.writeNumber, query, after)
      await this.#follower.reached(piece.newest)
      // If the snapshot was closed meanwhile, its undo memory is gone.
      this.#assertOpen()
      yield joined(piece.found, this.#undone(query, after, piece.end))
      after = piece.end
    } while (after)
  }

  /** For each resource of a piece that has changed since the snapshot: the state or latest record before the first change. */
  #undone(
    query: LatestQuery,
    after: ResourceName | undefined,
    end: ResourceName | undefined,
  ): ReadonlyMap<string, LatestOfThing> {
    const undone = new Map<string, LatestOfThing>()
    for (const { thingId, key, before } of this.#follower.undoSince(this.writeNumber)) {
      if (before === undefined) continue
      const name = nameOf({ thingId, key })
      if (undone.has(name) || !isBetween({ thingId, key }, query, after, end)) continue
      undone.set(name, { thingId, key, record: decodeState(key, before) })
    }
    return undone
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new ThingwireError('store_unavailable', 'the snapshot is closed')
  }
}

/** All records of `found` and `undone`; for a resource that is in both, only the `undone` record. */
function joined(
  found: readonly LatestOfThing[],
  undone: ReadonlyMap<string, LatestOfThing>,
): readonly LatestOfThing[] {
  if (undone.size === 0) return found
  return [...found.filter(each => !undone.has(nameOf(each))), ...undone.values()]
}

/** A unique name, since thing ids have no colon. */
function nameOf({ thingId, key }: ResourceName): string {
  return `${thingId}:${key}`
}
