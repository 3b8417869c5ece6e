import { setTimeout as delay } from 'node:timers/promises'
import { ClassicLevel } from 'classic-level'
import { ThingwireError } from '../../../errors.ts'
import { batchKey, counterBytes, identityKey } from '../keys.ts'
import { DirectoryWatch } from './directory-watch.ts'
import type { DiskSpace } from './disk-space.ts'
import { identityOf, mayHoldNewStore, misplaced, takeFormat } from './identity.ts'
import { hasCode, isOutOfSpace, openError } from './level-errors.ts'
import type { Level } from './scan.ts'

const writeBufferBytes = 4 * 1024 * 1024
/** Only single reads use the cache. A cache of 8 MiB (LevelDB's default) would fill within half an hour, without a benefit. */
const blockCacheBytes = 2 * 1024 * 1024
const reopenDelay = 1_000

/** A batch of operations that LevelDB writes atomically. */
export type Batch = ReturnType<Database['batch']>

/** The internal method of abstract-level that `put` of a chained batch calls, in every implementation. */
interface Puts {
  _put(key: Buffer, value: Buffer | string, options: object): void
}

const noOptions = {}

/**
 * Like `batch.put`, but faster, since it accepts only bytes (copied) and text (encoded as UTF-8): `put` spends a third of its time
 * on other encodings, sublevels and hooks. `batch.length` does not count these puts, and a batch of length 0 is not written, so at
 * least one `batch.put` or `batch.del` is needed too.
 */
export function putBytes(batch: Batch, key: Buffer, value: Buffer | string): void {
  ;(batch as unknown as Puts)._put(key, value, noOptions)
}

/** Data to undo a batch that is in the database although its write has failed. */
export interface Undo {
  /** Keys that the batch adds, which the undo deletes. */
  readonly added: Iterable<Buffer>
  /** All other keys of the batch with their values before the batch; undefined if the key did not exist. */
  readonly before: readonly (readonly [key: Buffer, bytes: Buffer | undefined])[]
}

const noUndo: Undo = { added: [], before: [] }

interface DatabaseParts {
  /** Whether to create a missing database and upgrade an older format. Default: false, and a missing database is an error. */
  readonly create?: boolean
  /** The disk space, with a reserve that is given up when the disk is full. Default: there is no reserve. */
  readonly space?: DiskSpace
  /** Called once if the store is lost, because its path no longer leads to this store. Every later call fails. */
  readonly onLost?: ((error: Error) => void) | undefined
}

/**
 * A LevelDB database that recovers from failed writes, and detects that its directory was removed or replaced.
 *
 * After a failed write or fsync the tail of LevelDB's log is unknown: a record appended to it could be unreadable after a
 * restart. So the database is closed and reopened, which cuts the tail off, and the failed batch is undone before the next
 * write. The cut may also remove earlier batches that were not synced. Then the failed batch is gone too, and its undo would
 * restore values of lost batches. So each batch with an undo also puts a number, which shows whether the batch is in the database.
 *
 * Only `open` creates a database. When the database is reopened, it must still be the store that was opened, with the same files
 * and the same identity, and without writes by other processes. Otherwise the store is permanently lost.
 */
export class Database {
  readonly #location: string
  readonly #parts: DatabaseParts
  readonly #watch: DirectoryWatch
  #opened: Level | undefined
  #identity: Buffer | undefined
  #lost: Error | undefined
  #failed = false
  /** Whether, after a failed write, everything written before it can still be read. */
  #isReadable = true
  /** Set while the database is reopened, if it was readable after the failed write. */
  #reopening: Promise<unknown> | undefined
  #reopenings = 0
  #closed = false
  #recovery: Promise<void> | undefined
  /** The newest recovery attempt; resolves with true if it succeeded. */
  #attempt: Promise<boolean> | undefined
  /** Undo of the failed batch. Until the undo is done, no other batch is written. */
  #undo = noUndo
  #failedBatch: number | undefined
  /** Number of the newest batch with an undo. */
  #batchNumber = 0
  /** Resolves when the newest write has settled. */
  #writing: Promise<void> = Promise.resolve()

  constructor(location: string, parts: DatabaseParts = {}) {
    this.#location = location
    this.#parts = parts
    this.#watch = new DirectoryWatch(location, why => this.#lose(why))
  }

  /** @returns `formatBefore` only after an upgrade @throws Error for the operator if the database is in use, unusable or missing */
  async open(): Promise<{ isCreated: boolean; formatBefore: string | undefined }> {
    const createIfMissing = this.#parts.create === true && (await mayHoldNewStore(this.#location))
    const why = createIfMissing ? await misplaced(this.#location) : undefined
    if (why !== undefined) throw new Error(`cannot create a store in ${this.#location}: ${why}`)
    const level = new ClassicLevel<Buffer, Buffer>(this.#location, {
      keyEncoding: 'buffer',
      valueEncoding: 'buffer',
      writeBufferSize: writeBufferBytes,
      cacheSize: blockCacheBytes,
      createIfMissing,
    })
    await this.#openFirst(level)
    let formatBefore: string | undefined
    try {
      this.#identity = await identityOf(level)
      if (this.#parts.create) formatBefore = await takeFormat(level)
      this.#batchNumber = await storedBatchNumber(level)
      await this.#watch.start()
    } catch (error) {
      await level.close()
      throw error
    }
    this.#opened = level
    return { isCreated: createIfMissing, formatBefore }
  }

  async #openFirst(level: Level): Promise<void> {
    try {
      await level.open().catch(async (error: unknown) => {
        const isFull = error instanceof Error && isOutOfSpace(error.cause)
        if (!isFull || !this.#parts.space) throw error
        await this.#parts.space.giveUpReserve()
        await level.open()
      })
    } catch (error) {
      throw openError(error, this.#location)
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#watch.stop()
    await this.#recovery
    await this.#opened?.close()
  }

  /** Whether the database can be read, now or once it is reopened. */
  isUsable(): boolean {
    return this.#isOpen() || (this.#reopening !== undefined && !this.#lost)
  }

  #isOpen(): boolean {
    return !this.#lost && (!this.#failed || this.#isReadable)
  }

  /** LevelDB, for reads. @throws ThingwireError store_unavailable if the database is lost, or unreadable during a recovery */
  get level(): Level {
    if (!this.#opened || !this.#isOpen()) throw this.#unavailable()
    return this.#opened
  }

  /** A chained batch, which takes a fifth of the time of an array of operations. */
  batch() {
    this.#assertWritable()
    return this.level.batch()
  }

  /**
   * Writes the batch atomically. With `sync`, waits until the batch is on the disk.
   *
   * @throws ThingwireError store_unavailable: nothing of the batch is kept; store_timeout: the batch has not been undone yet,
   * and may be in the database if the process dies now. Both statements hold only for keys in `undo`.
   */
  write(batch: Batch, options: { sync: boolean }, undo = noUndo): Promise<void> {
    // One write after another: a batch that is written directly after a failed batch could be lost too.
    const written = this.#writing.then(() => this.#write(batch, options, undo))
    this.#writing = written.catch(() => {})
    return written
  }

  async #write(batch: Batch, options: { sync: boolean }, undo: Undo): Promise<void> {
    this.#assertWritable()
    // Without a promise if there is room: LevelDB then gets the batch before the next group is prepared (see LevelCommitter).
    const room = this.#parts.space?.makeRoom()
    if (room) await room
    const number = undo === noUndo ? undefined : ++this.#batchNumber
    try {
      if (number !== undefined) batch.put(batchKey, counterBytes(number))
      await batch.write(options)
    } catch (cause) {
      // The recovery from another failed batch has closed this batch: nothing of it was written.
      if (hasCode(cause, 'LEVEL_BATCH_NOT_OPEN')) throw storeFailed('store_unavailable', cause)
      this.#undo = undo
      this.#failedBatch = number
      this.#failed = true
      // When space is lacking, reads stay correct: LevelDB applies a batch in memory only after writing it to the log.
      this.#isReadable = isOutOfSpace(cause)
      this.#recovery ??= this.#recover().finally(() => {
        this.#recovery = undefined
      })
      throw storeFailed((await this.#attempt) ? 'store_unavailable' : 'store_timeout', cause)
    }
    const due = this.#watch.due()
    if (due) await due
    if (this.#lost) throw storeFailed('store_timeout', this.#lost)
  }

  /** Runs a task. @throws ThingwireError store_unavailable if LevelDB fails, or a recovery closes it during the task */
  async use<T>(task: () => Promise<T>): Promise<T> {
    try {
      return await task()
    } catch (error) {
      throw asStoreError(error)
    }
  }

  /** Runs a task that only reads. Waits while the database is reopened, and repeats the task if the reopening interrupted it. */
  async read<T>(task: () => Promise<T>): Promise<T> {
    for (;;) {
      if (this.#reopening) await this.#reopening
      const reopenings = this.#reopenings
      try {
        return await task()
      } catch (error) {
        if (this.#reopenings === reopenings) throw asStoreError(error)
      }
    }
  }

  /** Like `use`, for a stream. */
  async *useStream<T>(open: () => AsyncIterable<T>): AsyncIterable<T> {
    try {
      yield* open()
    } catch (error) {
      throw asStoreError(error)
    }
  }

  async #recover(): Promise<void> {
    while (this.#opened && !this.#closed && !this.#lost) {
      this.#attempt = this.#undoFailed(this.#opened).finally(() => {
        this.#reopening = undefined
      })
      if (await this.#attempt) return
      await delay(reopenDelay)
    }
  }

  /** @returns whether the recovery succeeded */
  async #undoFailed(level: Level): Promise<boolean> {
    if (this.#isReadable && !(await this.#makeSpace())) return false
    this.#watch.stop()
    await this.#watch.look()
    if (this.#lost) return false
    if (this.#isReadable) {
      this.#reopening = this.#attempt
      this.#reopenings++
    }
    this.#isReadable = false
    try {
      await level.close()
      await level.open({ createIfMissing: false })
      await this.#assertKnown(level)
      if ((await storedBatchNumber(level)) === this.#failedBatch) await this.#takeBack(level, this.#undo)
      await this.#watch.start()
    } catch {
      // Opening may have failed because the directory is gone.
      await this.#watch.look()
      if (this.#lost) await level.close().catch(() => {})
      return false
    }
    if (this.#lost) return false
    this.#undo = noUndo
    this.#failed = false
    this.#isReadable = true
    return true
  }

  /** @returns whether there is enough space to reopen the database; if not, it stays open for reading */
  async #makeSpace(): Promise<boolean> {
    const { space } = this.#parts
    if (!space) return true
    await space.giveUpReserve()
    return await space.isEnoughToOpen()
  }

  async #assertKnown(level: Level): Promise<void> {
    const identity = await level.get(identityKey)
    if (!this.#identity || !identity?.equals(this.#identity)) this.#lose('another store is in its place')
    if ((await storedBatchNumber(level)) > this.#batchNumber) this.#lose('another process has written to it')
    if (this.#lost) throw this.#lost
  }

  #lose(why: string): void {
    if (this.#lost || this.#closed) return
    this.#watch.stop()
    this.#lost = new Error(`the store in ${this.#location} is lost: ${why}`)
    this.#parts.onLost?.(this.#lost)
  }

  async #takeBack(level: Level, { added, before }: Undo): Promise<void> {
    const batch = level.batch()
    for (const key of added) batch.del(key)
    for (const [key, bytes] of before) {
      if (bytes === undefined) batch.del(key)
      else batch.put(key, bytes)
    }
    await batch.write({ sync: true })
  }

  #assertWritable(): void {
    if (this.#failed || this.#lost) throw this.#unavailable()
  }

  #unavailable(): ThingwireError {
    if (this.#lost) return new ThingwireError('store_unavailable', 'the store is lost', { cause: this.#lost })
    if (this.#isReadable && this.#failed) return new ThingwireError('store_full')
    return new ThingwireError('store_unavailable', 'the store is recovering from a failed write')
  }
}

async function storedBatchNumber(level: Level): Promise<number> {
  return (await level.get(batchKey))?.readUIntBE(0, 6) ?? 0
}

function asStoreError(error: unknown): unknown {
  return hasCode(error, 'LEVEL_') ? storeFailed('store_unavailable', error) : error
}

function storeFailed(reason: 'store_unavailable' | 'store_timeout', cause: unknown): ThingwireError {
  return new ThingwireError(reason, 'the store failed', { cause })
}
