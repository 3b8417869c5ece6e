import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'

/** Descriptors reserved for listeners, the log, files that are read, and files that LevelDB writes. */
const ownDescriptors = 64
/** Largest share of the descriptors that LevelDB uses for open tables, if it cannot map them into memory. */
const shareOfTables = 1 / 5
const mostTables = 1_000

/** Maximum number of connections of a process with this many descriptors. */
export function connectionsWithin(descriptors: number): number {
  const tables = Math.min(Math.floor(descriptors * shareOfTables), mostTables)
  return Math.max(descriptors - ownDescriptors - tables, 1)
}

/** The limit of descriptors of this process; Infinity if the system does not state it. */
export function descriptorLimit(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? []
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

/** Reserves descriptors for the store by refusing connections before too few are left. */
export class Descriptors {
  readonly #most: number
  readonly #log: FastifyBaseLogger
  #open = 0
  #hasWarned = false

  /** @param limit descriptors that the process may have */
  constructor(log: FastifyBaseLogger, limit = descriptorLimit()) {
    this.#log = log
    this.#most = connectionsWithin(limit)
  }

  /** Counts a connection until it is closed. @returns false if the caller must close it at once */
  enter(socket: Socket): boolean {
    if (this.#open >= this.#most) {
      this.#warn()
      return false
    }
    this.#open++
    socket.once('close', () => this.#open--)
    return true
  }

  #warn(): void {
    if (this.#hasWarned) return
    this.#hasWarned = true
    this.#log.error(
      { connections: this.#open },
      `connections are turned away: this process may have ${this.#most} beside its files. Raise its limit of open files (ulimit -n, LimitNOFILE of systemd), then start it again`,
    )
  }
}
