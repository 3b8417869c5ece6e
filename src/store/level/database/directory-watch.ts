import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Time between two checks, milliseconds. */
const interval = 1_000
/** Milliseconds for which a check is valid. If the process was paused, a write may complete long after the newest check. */
const validity = 3_000
/** Errors that do not mean that the directory is gone, but, for example, that the system was short of resources. */
const transient: ReadonlySet<string | undefined> = new Set(['EAGAIN', 'EINTR', 'EMFILE', 'ENFILE', 'ENOMEM'])

interface Known {
  /** Device and inode of the directory. */
  readonly directory: string
  readonly lock: string
  /** Name of the newest log of writes. */
  log: string
}

/** Watches whether a path still leads to the open files of LevelDB, which writes to removed or moved files without an error. */
export class DirectoryWatch {
  readonly #location: string
  readonly #onGone: (why: string) => void
  #known: Known | undefined
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> | undefined
  /** When the newest check that found the directory started, by `performance.now()`. */
  #seenAt = 0

  /** @param onGone called with the reason, possibly more than once */
  constructor(location: string, onGone: (why: string) => void) {
    this.#location = location
    this.#onGone = onGone
  }

  /** Called when LevelDB has just opened the files. */
  async start(): Promise<void> {
    const begun = performance.now()
    const [directory, lock] = await Promise.all([this.#fileAt('.'), this.#fileAt('LOCK')])
    this.#known = { directory, lock, log: (await this.#newestLog()) ?? '' }
    this.#seenAt = begun
    this.#timer = setInterval(() => void this.look(), interval)
    this.#timer.unref()
  }

  /** Called before LevelDB opens the files again, since opening changes the files. */
  stop(): void {
    clearInterval(this.#timer)
  }

  /** @returns a check to wait for before a write is acknowledged; undefined if the newest check is still valid */
  due(): Promise<void> | undefined {
    return performance.now() - this.#seenAt < validity ? undefined : this.look()
  }

  /** Checks the directory now, even if the watch is stopped. If the directory is gone, resolves after `onGone` was called. */
  look(): Promise<void> {
    this.#looking ??= this.#lookOnce().finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  async #lookOnce(): Promise<void> {
    const begun = performance.now()
    try {
      const gone = await this.#whyGone()
      if (gone === undefined) this.#seenAt = begun
      else this.#onGone(gone)
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      if (!transient.has(code)) this.#onGone(message)
    }
  }

  async #whyGone(): Promise<string | undefined> {
    const known = this.#known
    if (!known) return undefined
    const [directory, lock] = await Promise.all([
      this.#fileAt('.'),
      this.#fileAt('LOCK'),
      this.#fileAt('CURRENT'),
    ])
    if (directory !== known.directory) return 'another directory is in its place'
    if (lock !== known.lock) return 'other files are in its place'
    return await this.#whyLogGone(known)
  }

  /** A missing log is normal if there is a newer log: LevelDB starts a new log from time to time, and later removes the old log. */
  async #whyLogGone(known: Known): Promise<string | undefined> {
    const isThere = await this.#fileAt(known.log).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined
      throw error
    })
    if (isThere !== undefined) return undefined
    const newest = await this.#newestLog()
    if (newest === undefined || numberOf(newest) < numberOf(known.log))
      return `its file ${known.log} was removed`
    known.log = newest
    return undefined
  }

  async #newestLog(): Promise<string | undefined> {
    const logs = (await readdir(this.#location)).filter(name => /^\d+\.log$/.test(name))
    return logs.sort((one, other) => numberOf(one) - numberOf(other)).at(-1)
  }

  async #fileAt(name: string): Promise<string> {
    const { dev, ino } = await stat(join(this.#location, name), { bigint: true })
    return `${dev} ${ino}`
  }
}

function numberOf(log: string): number {
  return Number.parseInt(log, 10)
}
