import { maximumPageText } from '../../../core/ports.ts'
import type { AcceptedRecord, StoredRecord } from '../../../core/record/record.ts'
import type { Commit, LogQuery, RecordStore } from '../../contract.ts'
import type { Database } from '../database/database.ts'
import { removeAll } from '../database/remove-keys.ts'
import { type Entry as LevelEntry, scan } from '../database/scan.ts'
import { type KeyRange, keysOf, logKey, prefix } from '../keys.ts'
import { LogByThing } from './by-thing.ts'

type IsWanted = Parameters<RecordStore['logWhen']>[0]

/** What an entry holds behind its thing id and a NUL, as JSON. */
interface Entry {
  readonly receivedAt: number
  readonly broadcast: boolean
  readonly records: readonly AcceptedRecord[]
  readonly latest: readonly { readonly key: string; readonly record?: StoredRecord | undefined }[]
}

const readAtOnce = 100
/** With one fsync. */
const removedAtOnce = 10_000

/** The commits that someone may have to read again, by write number. */
export class LevelCommitLog {
  /** Nothing is wanted without one. */
  isWanted: IsWanted | undefined
  readonly #database: Database
  /** Of those put since the start, and of all once it is `#learnt`. */
  readonly #byThing = new LogByThing()
  #learnt: Promise<void> | undefined

  constructor(database: Database) {
    this.#database = database
  }

  /** The entry to put with a commit; undefined if it is not wanted. */
  entryOf(commit: Commit): readonly [key: Buffer, bytes: Buffer] | undefined {
    const { records, latest, stored } = commit
    if (!stored || (records.length === 0 && latest.length === 0)) return undefined
    if (!this.isWanted?.(commit)) return undefined
    return [logKey(commit.writeNumber), encode(commit)]
  }

  /** The entry is stored. */
  added({ thingId, writeNumber }: Commit): void {
    this.#byThing.add(thingId, writeNumber)
  }

  async read(query: LogQuery): Promise<Commit[]> {
    const { limit, isOf } = query
    const commits: Commit[] = []
    let bytes = 0
    for await (const entries of this.#entries(query)) {
      for (const [key, entry] of entries) {
        const thingId = thingIn(entry)
        if (isOf && !isOf(thingId)) continue
        commits.push(decodeCommit(key, entry, thingId))
        bytes += entry.length
        if (commits.length === limit || bytes >= maximumPageText) return commits
      }
    }
    return commits
  }

  /** Those of the things that are wanted, and maybe others. */
  async *#entries({
    after,
    before,
    order,
    limit,
    isOf,
  }: LogQuery): AsyncGenerator<readonly LevelEntry[], void> {
    const atOnce = Math.min(limit, readAtOnce)
    if (isOf) {
      const byThing = await this.#learn()
      for (;;) {
        const writeNumbers = byThing.select({ after, before, order, limit: atOnce, isOf })
        if (!writeNumbers) break
        const last = writeNumbers.at(-1)
        if (last === undefined) return
        yield await this.#named(writeNumbers)
        if (order === 'asc') after = last
        else before = last
      }
    }
    const range = between(after + 1, before)
    if (Buffer.compare(range.gte, range.lt) >= 0) return
    yield* scan(this.#database, range, { atOnce, reverse: order === 'desc', ...(!isOf && { limit }) })
  }

  async #named(writeNumbers: readonly number[]): Promise<LevelEntry[]> {
    const keys = writeNumbers.map(logKey)
    const values = await this.#database.level.getMany(keys, { fillCache: false })
    // Some may have been trimmed meanwhile, or while the log was learnt.
    return keys.flatMap((key, place) => (values[place] ? [[key, values[place]] as const] : []))
  }

  /** Not waited for on the disk: what a crash brings back is trimmed again. */
  async trim(writeNumbers: readonly number[]): Promise<void> {
    if (writeNumbers.length === 0) return
    const batch = this.#database.batch()
    for (const writeNumber of writeNumbers) batch.del(logKey(writeNumber))
    await this.#database.write(batch, { sync: false })
    this.#byThing.delete(writeNumbers)
  }

  /** Removes a thing's entries. */
  async removeThing(thingId: string): Promise<void> {
    const writeNumbers = [...(await this.#learn()).of(thingId)]
    for (let at = 0; at < writeNumbers.length; at += removedAtOnce) {
      const some = writeNumbers.slice(at, at + removedAtOnce)
      await removeAll(this.#database, some.map(logKey))
      this.#byThing.delete(some)
    }
  }

  /** Of which thing each entry is; from the first time on, those are known that are there since before the start. */
  async #learn(): Promise<LogByThing> {
    this.#learnt ??= this.#learnEarlier()
    await this.#learnt
    return this.#byThing
  }

  async #learnEarlier(): Promise<void> {
    try {
      const earlier = new LogByThing()
      for await (const entries of scan(this.#database, keysOf(prefix.log))) {
        for (const [key, bytes] of entries) earlier.add(thingIn(bytes), writeNumberIn(key))
      }
      this.#byThing.addEarlier(earlier)
    } catch (error) {
      this.#learnt = undefined
      throw error
    }
  }
}

/** @param from inclusive @param to exclusive */
function between(from: number, to: number): KeyRange {
  const { gte, lt } = keysOf(prefix.log)
  return { gte: from > 0 ? logKey(from) : gte, lt: Number.isFinite(to) ? logKey(Math.max(to, 0)) : lt }
}

function encode({ thingId, receivedAt, broadcast, records, latest }: Commit): Buffer {
  const entry: Entry = { receivedAt, broadcast, records, latest }
  return Buffer.from(`${thingId}\0${JSON.stringify(entry)}`)
}

export function decodeCommit(key: Buffer, bytes: Buffer, thingId = thingIn(bytes)): Commit {
  const text = bytes.toString('utf8', thingId.length + 1)
  const { receivedAt, broadcast, records, latest } = JSON.parse(text) as Entry
  return {
    thingId,
    writeNumber: writeNumberIn(key),
    receivedAt,
    broadcast,
    records,
    latest: latest.map(({ key, record }) => ({ key, record })),
    stored: true,
  }
}

function thingIn(bytes: Buffer): string {
  return bytes.toString('latin1', 0, bytes.indexOf(0))
}

function writeNumberIn(key: Buffer): number {
  return key.readUIntBE(1, 6)
}
