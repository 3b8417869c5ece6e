import { maximumPageText } from '../../../core/ports.ts'
import type { AcceptedRecord, StoredRecord } from '../../../core/record/record.ts'
import type { Commit, LogQuery, RecordStore } from '../../contract.ts'
import type { Database } from '../database/database.ts'
import { removeKeys } from '../database/remove-keys.ts'
import { type Entry as LevelEntry, scan } from '../database/scan.ts'
import { type KeyRange, keysOf, logKey, prefix } from '../keys.ts'
import { RecentCommits } from './recent-commits.ts'

type IsWanted = Parameters<RecordStore['logWhen']>[0]

/** The JSON part of an entry, which begins after the thing id and a NUL. */
interface Entry {
  readonly receivedAt: number
  readonly broadcast: boolean
  readonly records: readonly AcceptedRecord[]
  readonly latest: readonly { readonly key: string; readonly record?: StoredRecord | undefined }[]
}

const readAtOnce = 100
/** Maximum bytes that one `getMany` reads. It is small because LevelDB's binding briefly keeps two copies of every entry read. */
const bytesAtOnce = 64 * 1024

/** The logged commits (`RecordStore.logWhen`), by write number. */
export class LevelCommitLog {
  /** Whether to log a commit. If undefined, no commit is logged. */
  isWanted: IsWanted | undefined
  readonly #database: Database
  readonly #recent = new RecentCommits()
  /** Write number of each thing's first entry, or a lower number. Until `#learnt` resolves, omits entries of earlier runs. */
  readonly #first = new Map<string, number>()
  #learnt: Promise<void> | undefined

  constructor(database: Database) {
    this.#database = database
  }

  /** The entry to put with a commit; undefined if the commit is not to be logged. */
  entryOf(commit: Commit): readonly [key: Buffer, bytes: Buffer] | undefined {
    const { records, latest, stored } = commit
    if (!stored || (records.length === 0 && latest.length === 0)) return undefined
    if (!this.isWanted?.(commit)) return undefined
    this.#note(commit.thingId, commit.writeNumber)
    return [logKey(commit.writeNumber), encode(commit)]
  }

  /** Called in write-number order, once the entry of a commit is stored and before the commit is delivered. */
  added({ thingId, writeNumber }: Commit, entry: Buffer): void {
    this.#recent.add({ thingId, writeNumber, bytes: entry.length })
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

  /** Reads the entries of the query's things. In the part of the log before `#recent`, reads the entries of all things. */
  async *#entries(query: LogQuery): AsyncGenerator<readonly LevelEntry[], void> {
    const { order, isOf } = query
    const isUp = order === 'asc'
    const limit = Math.min(query.limit, readAtOnce)
    let { after, before } = query
    while (after + 1 < before) {
      // `#recent.from` may have risen while entries were read.
      const known = isOf ? this.#recent.from : Number.POSITIVE_INFINITY
      if (isOf && (isUp ? after + 1 >= known : before > known)) {
        const selected = this.#recent.select({ after, before, order, limit, isOf, bytes: bytesAtOnce })
        yield await this.#entriesAt(selected)
        if (isUp) after = selected.at(-1) ?? before
        else before = selected.at(-1) ?? known
      } else {
        const range = between(after + 1, isUp ? Math.min(before, known) : before)
        yield* scan(this.#database, range, {
          atOnce: limit,
          reverse: !isUp,
          ...(!isOf && { limit: query.limit }),
        })
        after = isUp ? known - 1 : before
      }
    }
  }

  async #entriesAt(writeNumbers: readonly number[]): Promise<LevelEntry[]> {
    const keys = writeNumbers.map(logKey)
    const values = await this.#database.level.getMany(keys, { fillCache: false })
    return keys.flatMap((key, place) => (values[place] ? [[key, values[place]] as const] : []))
  }

  /** Does not sync to disk, since entries that reappear after a crash are trimmed again. */
  async trim(writeNumbers: readonly number[]): Promise<void> {
    if (writeNumbers.length === 0) return
    const batch = this.#database.batch()
    for (const writeNumber of writeNumbers) batch.del(logKey(writeNumber))
    await this.#database.write(batch, { sync: false })
  }

  /** Removes a thing's entries from the write number `from` on (inclusive). Reads the log only from the thing's first entry on. */
  async removeThing(thingId: string, from: number): Promise<void> {
    this.#learnt ??= this.#learn()
    await this.#learnt
    const first = this.#first.get(thingId)
    if (first === undefined) return
    const start = Buffer.from(`${thingId}\0`)
    await removeKeys(this.#database, between(Math.max(from, first), Number.POSITIVE_INFINITY), (_, bytes) =>
      bytes.subarray(0, start.length).equals(start),
    )
  }

  forgetThing(thingId: string): void {
    this.#first.delete(thingId)
  }

  async #learn(): Promise<void> {
    try {
      for await (const entries of scan(this.#database, keysOf(prefix.log))) {
        for (const [key, bytes] of entries) this.#note(thingIn(bytes), writeNumberIn(key))
      }
    } catch (error) {
      this.#learnt = undefined
      throw error
    }
  }

  #note(thingId: string, writeNumber: number): void {
    const first = this.#first.get(thingId)
    if (first === undefined || writeNumber < first) this.#first.set(thingId, writeNumber)
  }
}

/** A range of log keys. @param from write number, inclusive @param to write number, exclusive */
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
