import { LoadProcess } from '../load/load-process.ts'
import type { LorisKind } from './loris.ts'

export interface CrowdSetup {
  readonly url: string
  readonly mqttUrl: string
  readonly webSocketUrl: string
  /** The idle connections are theirs by turns. */
  readonly thingTokens: readonly string[]
}

export interface IdleReport {
  readonly open: number
}

export interface ConnectsReport {
  readonly connected: number
  /** By what they were answered with in place of CONNACK 0. */
  readonly failed: Readonly<Record<string, number>>
}

/** Seconds from the opening of a socket to its end. */
export interface LorisReport {
  readonly kind: LorisKind
  readonly gone: number
  readonly left: number
  readonly first: number
  readonly last: number
}

/** The load generator: a process of its own, so that what it costs is not the healthy clients'. */
export class Crowd {
  readonly #process = new LoadProcess(new URL('crowd-child.ts', import.meta.url))

  static async start(setup: CrowdSetup): Promise<Crowd> {
    const crowd = new Crowd()
    await crowd.#process.ask('setUp', setup)
    return crowd
  }

  /** Opens idle MQTT connections, which stay open. */
  openIdle(connections: number, rate: number): Promise<IdleReport> {
    return this.#process.ask('openIdle', { connections, rate })
  }

  /** Connects and leaves again, so many times a second. */
  connect(rate: number, seconds: number): Promise<ConnectsReport> {
    return this.#process.ask('connectAndLeave', { rate, seconds })
  }

  /** Opens so many slow sockets of each kind, and waits until they are gone, or past their deadlines (seconds). */
  loris(count: number, deadlines: Readonly<Record<LorisKind, number>>): Promise<readonly LorisReport[]> {
    return this.#process.ask('runLoris', { count, deadlines })
  }

  /** How many of the idle connections are still open. */
  stillOpen(): Promise<number> {
    return this.#process.ask('stillOpen')
  }

  stop(): Promise<void> {
    return this.#process.stop()
  }
}
