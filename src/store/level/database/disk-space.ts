import { readdir, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { ThingwireError } from '../../../errors.ts'
import type { PutPurpose } from '../../contract.ts'
import { Reserve } from './reserve.ts'

const checkInterval = 2_000
/** Then a reserve is made that is not there, milliseconds after the start: what is opened for a moment needs none. */
const firstCheck = 1_000
/** As much as LevelDB needs to open a store: the log becomes a table before it is removed. And to compact a little beside it. */
const reserveBytes = 32 * 1024 * 1024
/** A reserve takes no larger part of a disk than one of so many. */
const smallestShare = 8
const openingBytes = 2 * 1024 * 1024

/** Bytes: what is free of a file system, and how large it is. */
interface Free {
  readonly bytes: number
  readonly ofAll: number
}

/**
 * Watches the free disk, so that writes stop before it is full and reads and removals go on (contract §9), and holds space back
 * for the time when another program has filled it all the same.
 */
export class DiskSpace {
  readonly #location: string
  readonly #minimum: number
  readonly #reserve: Reserve
  #timer: NodeJS.Timeout | undefined
  #isBelowMinimum = false
  #isFull = false
  /** Whether the newest look has found the disk full and the reserve there. */
  #isReserveNeeded = false
  #isStopped = false
  /** How often space has been missing: a check that began before the last time has seen the disk as it was. */
  #failures = 0
  /** The newest check. */
  #checking: Promise<void> = Promise.resolve()

  /** @param minimum bytes that must be free for records to be taken */
  constructor(location: string, minimum: number) {
    this.#location = location
    this.#minimum = minimum
    this.#reserve = new Reserve(location)
  }

  /** Whether there is less free disk than there must be: no record is taken, and no put whose purpose is `keep`. */
  get isShort(): boolean {
    return this.#isBelowMinimum || this.#isFull
  }

  /** As `isShort`, of this moment: what nobody asked for should not be the write that finds the disk full. */
  async isShortNow(): Promise<boolean> {
    return this.#isBelow(await this.#free()) || this.isShort
  }

  /** Whether nothing is taken but removals and what is `essential`: they take the reserve. */
  get isFull(): boolean {
    return this.#isFull
  }

  /** @throws ThingwireError store_full if these documents are not to be put now */
  assertFor(
    documents: readonly (readonly [key: unknown, content: object | null])[],
    purpose: PutPurpose,
  ): void {
    const isRefused = { keep: this.isShort, register: this.#isFull, essential: false }[purpose]
    // What only removes may be what makes space.
    if (isRefused && documents.some(([, bytes]) => bytes !== null)) throw new ThingwireError('store_full')
  }

  /** The directory is there. Resolves when it is known how much is free. */
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
   * Something is to be written. The reserve of a full disk is not given up before: what fills the disk would take it as well. One that
   * is being made, since there is room again, is left alone.
   */
  async makeRoom(): Promise<void> {
    if (this.#isReserveNeeded) await this.giveUpReserve()
  }

  /** A call of LevelDB has failed because there is no space. */
  async giveUpReserve(): Promise<void> {
    this.#isFull = true
    this.#isReserveNeeded = false
    this.#failures++
    await this.#reserve.giveUp()
  }

  /** Whether LevelDB can open the store anew: what cannot be opened again is not to be closed. */
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

  /** @returns how large the reserve is to be, if it is to be made */
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
    // A file system that cannot say what is free fails the write itself when it is full.
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
