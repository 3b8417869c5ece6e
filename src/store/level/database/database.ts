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
/** Only single reads fill it. LevelDB's own 8 MiB fill up for half an hour while clients come and go, and gain nothing. */
const blockCacheBytes = 2 * 1024 * 1024
const reopenDelay = 1_000

/** Operations that are written as one; `sync` waits until they are on the disk. */
export type Batch = ReturnType<Database['batch']>

/** What abstract-level's chained batch hands on to LevelDB, and every implementation of it has. */
interface Puts {
  _put(key: Buffer, value: Buffer | string, options: object): void
}

const noOptions = {}

/**
 * `batch.put` for bytes, which are copied, and text, as UTF-8: without what it does for other encodings, sublevels and
 * hooks, which is a third of its time. They do not count for `batch.length`, and a batch of length 0 is not written:
 * something else is to be put, too.
 */
export function putBytes(batch: Batch, key: Buffer, value: Buffer | string): void {
  ;(batch as unknown as Puts)._put(key, value, noOptions)
}

/** What takes a batch back again if its write fails, and it is there all the same. */
export interface Undo {
  /** Keys to delete: they were not there before. */
  readonly added: Iterable<Buffer>
  /** Other keys of the batch, as they were before; undefined if they were not there. */
  readonly before: readonly (readonly [key: Buffer, bytes: Buffer | undefined])[]
}

const noUndo: Undo = { added: [], before: [] }

interface DatabaseParts {
  /** Makes the database if there is none, and gives one of an older format today's. Default: the first is an error, the second stays. */
  readonly create?: boolean
  /** Gives space up when the disk is full. Default: none is held back. */
  readonly space?: DiskSpace
  /** Called once if the store is lost: what its path leads to is not this store any more. Nothing is taken or read from then on. */
  readonly onLost?: ((error: Error) => void) | undefined
}

/**
 * The LevelDB underneath, and what becomes of it when a write fails or its directory goes away.
 *
 * After a failed write or fsync the log's tail is unknown: a record appended behind it could be unreadable after a
 * restart. So nothing more is written to that log: the database is closed and opened again, which cuts the tail
 * off, and what the failed batch may have left is taken back before the next write is taken. With the tail, batches in front of
 * it may be gone that were not waited for on the disk; then it is gone, too, and there is nothing to take back: what was read for
 * that is of a state that is no more. So each batch that can be taken back has a number, which it puts.
 *
 * A database is made by `open` alone, where there is none. What is found later has to be the store that was opened: the same files,
 * the same identity, nothing written by others. Otherwise the store is lost, for good.
 */
export class Database {
  readonly #location: string
  readonly #parts: DatabaseParts
  readonly #watch: DirectoryWatch
  #opened: Level | undefined
  #identity: Buffer | undefined
  #lost: Error | undefined
  #failed = false
  /** Whether what LevelDB had before a failed write can be read on. */
  #isReadable = true
  /** While what could be read is opened anew. */
  #reopening: Promise<unknown> | undefined
  #reopenings = 0
  #closed = false
  #recovery: Promise<void> | undefined
  /** The newest try of the recovery, and whether it succeeded. */
  #attempt: Promise<boolean> | undefined
  /** Of the batch whose write failed: no other is written until it is done. */
  #undo = noUndo
  #failedBatch: number | undefined
  /** Of the newest batch that can be taken back. */
  #batchNumber = 0
  /** Settles when the newest write has. */
  #writing: Promise<void> = Promise.resolve()

  constructor(location: string, parts: DatabaseParts = {}) {
    this.#location = location
    this.#parts = parts
    this.#watch = new DirectoryWatch(location, why => this.#lose(why))
  }

  /**
   * @returns whether it was made, and which other format it had before
   * @throws Error for the operator: another format, held by another process, unreadable, not there
   */
  async open(): Promise<{ isCreated: boolean; formatBefore: string | undefined }> {
    const createIfMissing = this.#parts.create === true && (await mayHoldNewStore(this.#location))
    const why = createIfMissing ? await misplaced(this.#location) : undefined
    if (why !== undefined) throw new Error(`cannot make a store in ${this.#location}: ${why}`)
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

  /** Whether it can be read. */
  isUsable(): boolean {
    return this.#isOpen() || (this.#reopening !== undefined && !this.#lost)
  }

  #isOpen(): boolean {
    return !this.#lost && (!this.#failed || this.#isReadable)
  }

  /**
   * For reading.
   *
   * @throws ThingwireError store_unavailable until what a failed batch may have left is taken back, or if the store is lost
   */
  get level(): Level {
    if (!this.#opened || !this.#isOpen()) throw this.#unavailable()
    return this.#opened
  }

  /** A chained batch; it costs a fifth of an array of operations. */
  batch() {
    this.#assertWritable()
    return this.level.batch()
  }

  /**
   * Writes the batch as one.
   *
   * @throws ThingwireError store_unavailable: nothing of the batch is kept; store_timeout: what may be left of it
   * could not be taken back yet, and would be found if the process died now. Of what is not in `undo` nothing is said.
   */
  write(batch: Batch, options: { sync: boolean }, undo = noUndo): Promise<void> {
    // One after another: what was written right behind a failed batch could be lost with it.
    const written = this.#writing.then(() => this.#write(batch, options, undo))
    this.#writing = written.catch(() => {})
    return written
  }

  async #write(batch: Batch, options: { sync: boolean }, undo: Undo): Promise<void> {
    this.#assertWritable()
    await this.#parts.space?.makeRoom()
    const number = undo === noUndo ? undefined : ++this.#batchNumber
    try {
      if (number !== undefined) batch.put(batchKey, counterBytes(number))
      await batch.write(options)
    } catch (cause) {
      // Closed by the recovery from another batch: nothing of this one was written.
      if (hasCode(cause, 'LEVEL_BATCH_NOT_OPEN')) throw storeFailed('store_unavailable', cause)
      this.#undo = undo
      this.#failedBatch = number
      this.#failed = true
      // LevelDB takes nothing of a batch into its memory that it could not write.
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

  /**
   * Runs a task that uses the database.
   *
   * @throws ThingwireError store_unavailable where LevelDB fails, or is closed under the task by a recovery
   */
  async use<T>(task: () => Promise<T>): Promise<T> {
    try {
      return await task()
    } catch (error) {
      throw asStoreError(error)
    }
  }

  /**
   * As `use`, for a task that reads alone. Where all could be read, it waits while the database is opened anew, and begins again if that
   * has closed it under the task.
   */
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

  /** As `use`, for what is read by and by. */
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

  /** @returns whether it succeeded */
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
      // Also if it could not be opened because it has gone.
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

  /** @returns whether there is enough to open the database again; until then what it has can be read */
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
