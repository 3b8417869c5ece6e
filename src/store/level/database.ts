import { setTimeout as delay } from 'node:timers/promises'
import { ClassicLevel } from 'classic-level'
import { ThingwireError } from '../../errors.ts'
import { indexByKey } from './index-by-key.ts'
import { batchKey, counterBytes, formatKey } from './keys.ts'

/** Version of the layout in keys.ts, record-run.ts and ../record-value.ts; a higher one is refused. */
export const formatVersion = 3

const writeBufferBytes = 16 * 1024 * 1024
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

/**
 * The LevelDB underneath, and what becomes of it when a write fails.
 *
 * After a failed write or fsync the log's tail is unknown: a record appended behind it could be unreadable after a
 * restart. So nothing more is written to that log: the database is closed and opened again, which cuts the tail
 * off, and what the failed batch may have left is taken back before the next write is taken. With the tail, batches in front of
 * it may be gone that were not waited for on the disk; then it is gone, too, and there is nothing to take back: what was read for
 * that is of a state that is no more. So each batch that can be taken back has a number, which it puts.
 */
export class Database {
  readonly #level: ClassicLevel<Buffer, Buffer>
  #failed = false
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

  constructor(location: string) {
    this.#level = new ClassicLevel(location, {
      keyEncoding: 'buffer',
      valueEncoding: 'buffer',
      writeBufferSize: writeBufferBytes,
    })
  }

  /** @throws Error for the operator: newer format, held by another process, unreadable */
  async open(): Promise<void> {
    try {
      await this.#level.open()
    } catch (error) {
      throw openError(error, this.#level.location)
    }
    try {
      await this.#checkFormat()
      this.#batchNumber = await this.#storedBatchNumber()
    } catch (error) {
      await this.#level.close()
      throw error
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#recovery
    await this.#level.close()
  }

  isUsable(): boolean {
    return !this.#failed
  }

  /**
   * For reading.
   *
   * @throws ThingwireError store_unavailable until what a failed batch may have left is taken back
   */
  get level(): ClassicLevel<Buffer, Buffer> {
    this.#assertUsable()
    return this.#level
  }

  /** A chained batch; it costs a fifth of an array of operations. */
  batch() {
    this.#assertUsable()
    return this.#level.batch()
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
    this.#assertUsable()
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
      this.#recovery ??= this.#recover().finally(() => {
        this.#recovery = undefined
      })
      throw storeFailed((await this.#attempt) ? 'store_unavailable' : 'store_timeout', cause)
    }
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

  /** As `use`, for what is read by and by. */
  async *useStream<T>(open: () => AsyncIterable<T>): AsyncIterable<T> {
    try {
      yield* open()
    } catch (error) {
      throw asStoreError(error)
    }
  }

  async #recover(): Promise<void> {
    while (!this.#closed) {
      this.#attempt = this.#undoFailed()
      if (await this.#attempt) return
      await delay(reopenDelay)
    }
  }

  /** @returns whether it succeeded */
  async #undoFailed(): Promise<boolean> {
    try {
      await this.#level.close()
      await this.#level.open()
      if ((await this.#storedBatchNumber()) === this.#failedBatch) await this.#takeBack(this.#undo)
      this.#undo = noUndo
      this.#failed = false
      return true
    } catch {
      return false
    }
  }

  async #takeBack({ added, before }: Undo): Promise<void> {
    const batch = this.#level.batch()
    for (const key of added) batch.del(key)
    for (const [key, bytes] of before) {
      if (bytes === undefined) batch.del(key)
      else batch.put(key, bytes)
    }
    await batch.write({ sync: true })
  }

  async #storedBatchNumber(): Promise<number> {
    return (await this.#level.get(batchKey))?.readUIntBE(0, 6) ?? 0
  }

  #assertUsable(): void {
    if (!this.#failed) return
    throw new ThingwireError('store_unavailable', 'the store is recovering from a failed write')
  }

  async #checkFormat(): Promise<void> {
    const stored = await this.#level.get(formatKey)
    if (stored === undefined) {
      await this.#level.put(formatKey, Buffer.from(String(formatVersion)), { sync: true })
      return
    }
    const version = Number(stored.toString())
    if (version === formatVersion) return
    if (version === 1) await indexByKey(this.#level)
    // What format 2 has is the same here, and all of it.
    if (version === 1 || version === 2) {
      await this.#level.put(formatKey, Buffer.from(String(formatVersion)), { sync: true })
      return
    }
    throw new Error(
      `cannot open the store in ${this.#level.location}: it has format ${version}, and this version knows format ${formatVersion}`,
    )
  }
}

function hasCode(error: unknown, start: string): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith(start)
}

function asStoreError(error: unknown): unknown {
  return hasCode(error, 'LEVEL_') ? storeFailed('store_unavailable', error) : error
}

function storeFailed(reason: 'store_unavailable' | 'store_timeout', cause: unknown): ThingwireError {
  return new ThingwireError(reason, 'the store failed', { cause })
}

/** What an operator is told of a database that cannot be opened, in one line. */
export function openError(error: unknown, location: string): Error {
  const cause = error instanceof Error ? error.cause : undefined
  const text = cause instanceof Error ? cause.message : String(error)
  if (cause instanceof Error && 'code' in cause && cause.code === 'LEVEL_LOCKED') {
    const advice = 'another process uses it. Is a server already running on this directory? Stop it first'
    return new Error(`cannot open the store in ${location}: ${advice}`, { cause: error })
  }
  return new Error(`cannot open the store in ${location}: ${text}`, { cause: error })
}
