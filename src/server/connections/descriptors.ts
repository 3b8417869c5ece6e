import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'

/** Descriptors reserved for listeners, the log, files that are read, and files that LevelDB writes. */
const ownDescriptors = 64
/** Share of the descriptors that is reserved for LevelDB's open tables, except tables mapped into memory: they need none. */
const shareOfTables = 1 / 5
const mostTables = 1_000

/** Maximum number of connections of a process with this many descriptors. */
export function connectionsWithin(descriptors: number): number {
  const tables = Math.min(Math.floor(descriptors * shareOfTables), mostTables)
  return Math.max(descriptors - ownDescriptors - tables, 1)
}

/** Maximum number of descriptors of this process; Infinity if the system does not show it. */
export function descriptorLimit(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? []
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

/** Limits the number of connections, so that the store always has enough descriptors. */
export class Descriptors {
  readonly #most: number
  readonly #log: FastifyBaseLogger
  #open = 0
  #hasWarned = false

  /** @param limit maximum number of descriptors of the process */
  constructor(log: FastifyBaseLogger, limit = descriptorLimit()) {
    this.#log = log
    this.#most = connectionsWithin(limit)
  }

  /** Counts a connection until it is closed. @returns false if the caller must close the connection */
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
      `refusing connections: this process has descriptors for only ${this.#most} connections besides its files. Raise its limit of open files (ulimit -n, LimitNOFILE of systemd), then restart it`,
    )
  }
}
