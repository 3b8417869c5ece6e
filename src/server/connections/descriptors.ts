import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'

/** Descriptors of the process beside connections: listeners, the log, files that are read, and those that LevelDB writes. */
const ownDescriptors = 64
/** LevelDB keeps tables open in so large a part of the descriptors at most, where it cannot map them into memory. */
const shareOfTables = 1 / 5
const mostTables = 1_000

/** How many connections a process may have that has so many descriptors. */
export function connectionsWithin(descriptors: number): number {
  const tables = Math.min(Math.floor(descriptors * shareOfTables), mostTables)
  return Math.max(descriptors - ownDescriptors - tables, 1)
}

/** How many descriptors this process may have; Infinity where the system does not say. */
export function descriptorLimit(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? []
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

/** Keeps descriptors back for the store: connections are turned away before it cannot open a file. */
export class Descriptors {
  readonly #most: number
  readonly #log: FastifyBaseLogger
  #open = 0
  #hasWarned = false

  /** @param limit how many descriptors the process may have */
  constructor(log: FastifyBaseLogger, limit = descriptorLimit()) {
    this.#log = log
    this.#most = connectionsWithin(limit)
  }

  /** Counts a connection until it is closed. @returns whether there is room for it; if not, it is to be closed at once */
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
