import { readdir, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { ThingwireError } from '../../../errors.ts'
import type { PutPurpose } from '../../contract.ts'
import { Reserve } from './reserve.ts'

const checkInterval = 2_000
/** Milliseconds from `start` to the first check, which creates the reserve. A store opened only briefly needs no reserve. */
const firstCheck = 1_000
/** Enough for small compactions, and for opening a store, when LevelDB writes a table from the log before it removes the log. */
const reserveBytes = 32 * 1024 * 1024
/** The reserve takes at most the size of the file system divided by this. */
const smallestShare = 8
const openingBytes = 2 * 1024 * 1024

/** Free space and size of a file system, bytes. */
interface Free {
  readonly bytes: number
  readonly ofAll: number
}

/** Stops writes before the disk is full (contract §9), and keeps a reserve of space in case the disk still fills up. */
export class DiskSpace {
  readonly #location: string
  readonly #minimum: number
  readonly #reserve: Reserve
  #timer: NodeJS.Timeout | undefined
  #isBelowMinimum = false
  #isFull = false
  /** Whether the newest check found the disk full while the reserve still existed. */
  #isReserveNeeded = false
  #isStopped = false
  /** Number of writes that failed for lack of space. A check is outdated if a write has failed since the check began. */
  #failures = 0
  #checking: Promise<void> = Promise.resolve()

  /** @param minimum free bytes below which records are refused */
  constructor(location: string, minimum: number) {
    this.#location = location
    this.#minimum = minimum
    this.#reserve = new Reserve(location)
  }

  /** Whether free space is below the minimum or the disk is full. If so, records and puts with the purpose `keep` are refused. */
  get isShort(): boolean {
    return this.#isBelowMinimum || this.#isFull
  }

  /** Like `isShort`, but measures now. For background work, which must not fill the disk itself. */
  async isShortNow(): Promise<boolean> {
    return this.#isBelow(await this.#free()) || this.isShort
  }

  /** Whether everything except removals and `essential` puts is refused; these two use the reserve. */
  get isFull(): boolean {
    return this.#isFull
  }

  /** @throws ThingwireError store_full if these documents must not be put now */
  assertFor(
    documents: readonly (readonly [key: unknown, content: object | null])[],
    purpose: PutPurpose,
  ): void {
    const isRefused = { keep: this.isShort, register: this.#isFull, essential: false }[purpose]
    // A put that only removes documents is allowed, since it may free space.
    if (isRefused && documents.some(([, bytes]) => bytes !== null)) throw new ThingwireError('store_full')
  }

  /** Called once the directory exists. Resolves after the first measurement. */
  async start(): Promise<void> {
    await this.#measure(() => !this.#isStopped)
    this.#checkIn(firstCheck)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#checking
  }

  /**
   * Called before each write. Gives up the reserve if the disk is full. If the reserve were given up earlier, the program that
   * fills the disk would take that space too. A reserve that is being created is kept: it is created only if there is enough space.
   */
  makeRoom(): Promise<void> | undefined {
    return this.#isReserveNeeded ? this.giveUpReserve() : undefined
  }

  /** Called when LevelDB has failed for lack of space. */
  async giveUpReserve(): Promise<void> {
    this.#isFull = true
    this.#isReserveNeeded = false
    this.#failures++
    await this.#reserve.giveUp()
  }

  /** Whether LevelDB has enough space to reopen the store. If not, the store must not be closed. */
  async isEnoughToOpen(): Promise<boolean> {
    try {
      const names = (await readdir(this.#location)).filter(name => name.endsWith('.log'))
      const logs = await Promise.all(names.map(name => stat(join(this.#location, name))))
      const needed = logs.reduce((sum, { size }) => sum + size, openingBytes)
      return ((await this.#free())?.bytes ?? needed) >= needed
    } catch {
      return true
    }
  }

  #checkIn(milliseconds: number): void {
    if (this.#isStopped) return
    this.#timer = setTimeout(() => {
      this.#checking = this.#check().finally(() => this.#checkIn(checkInterval))
    }, milliseconds)
    this.#timer.unref()
  }

  async #check(): Promise<void> {
    const failures = this.#failures
    const isNewest = () => !this.#isStopped && failures === this.#failures
    const bytes = await this.#measure(isNewest)
    if (bytes === undefined) return
    const isFull = (await this.#reserve.make(bytes, isNewest)) === 'no space'
    if (isNewest()) this.#isFull = isFull
  }

  /** @returns size in bytes of the reserve to create; undefined if none is to be created */
  async #measure(isNewest: () => boolean): Promise<number | undefined> {
    const free = await this.#free()
    this.#isBelowMinimum = this.#isBelow(free)
    if (!free || !isNewest()) return undefined
    const bytes = Math.min(reserveBytes, Math.floor(free.ofAll / smallestShare))
    const isThere = await this.#reserve.isThere(bytes)
    if (!isNewest()) return undefined
    if (isThere) {
      this.#isFull = free.bytes < openingBytes
      this.#isReserveNeeded = this.#isFull
      return undefined
    }
    if (free.bytes < 2 * bytes) {
      this.#isFull = true
      return undefined
    }
    return bytes
  }

  #isBelow(free: Free | undefined): boolean {
    // If the file system does not report its free space, writes go on until one fails.
    return free !== undefined && free.bytes < Math.max(this.#minimum, openingBytes)
  }

  async #free(): Promise<Free | undefined> {
    try {
      const { bavail, blocks, bsize } = await statfs(this.#location)
      return { bytes: bavail * bsize, ofAll: blocks * bsize }
    } catch {
      return undefined
    }
  }
}
