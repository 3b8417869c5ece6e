import { type ChildProcess, fork } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { LorisKind } from './loris.ts'

export interface CrowdSetup {
  readonly url: string
  readonly mqttUrl: string
  readonly webSocketUrl: string
  /** The idle connections are theirs by turns. */
  readonly thingTokens: readonly string[]
}

/** What the load generator is told to do. */
export type CrowdTask =
  | { readonly name: 'idle'; readonly connections: number; readonly rate: number }
  | { readonly name: 'connects'; readonly rate: number; readonly seconds: number }
  | {
      readonly name: 'loris'
      readonly count: number
      readonly deadlines: Readonly<Record<LorisKind, number>>
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

export type CrowdMessage =
  | { readonly progress: string }
  | { readonly done: IdleReport | ConnectsReport | readonly LorisReport[] }

/** The load generator: a process of its own, so that what it costs is not the healthy clients'. */
export class Crowd {
  readonly #child: ChildProcess
  readonly #messages = new EventEmitter()

  private constructor(child: ChildProcess, onProgress: (text: string) => void) {
    this.#child = child
    child.on('message', (message: CrowdMessage) => {
      if ('progress' in message) onProgress(message.progress)
      else this.#messages.emit('done', message.done)
    })
    child.once('exit', () => this.#messages.emit('error', new Error('the load generator ended')))
  }

  static async start(setup: CrowdSetup, onProgress: (text: string) => void): Promise<Crowd> {
    const file = fileURLToPath(new URL('crowd-child.ts', import.meta.url))
    const child = fork(file, [JSON.stringify(setup)], { execArgv: ['--import', import.meta.resolve('tsx')] })
    await once(child, 'spawn')
    return new Crowd(child, onProgress)
  }

  /** Opens idle MQTT connections, which stay open. */
  openIdle(connections: number, rate: number): Promise<IdleReport> {
    return this.#do({ name: 'idle', connections, rate })
  }

  /** Connects and leaves again, so many times a second. */
  connect(rate: number, seconds: number): Promise<ConnectsReport> {
    return this.#do({ name: 'connects', rate, seconds })
  }

  /** Opens so many slow sockets of each kind, and waits until they are gone, or past their deadlines (seconds). */
  loris(count: number, deadlines: Readonly<Record<LorisKind, number>>): Promise<readonly LorisReport[]> {
    return this.#do({ name: 'loris', count, deadlines })
  }

  /** How many of the idle connections are still open. */
  async stillOpen(): Promise<number> {
    return (await this.#do<IdleReport>({ name: 'idle', connections: 0, rate: 1 })).open
  }

  stop(): void {
    this.#messages.on('error', () => {})
    this.#child.disconnect()
  }

  async #do<Report>(task: CrowdTask): Promise<Report> {
    this.#child.send(task)
    const [report] = await once(this.#messages, 'done')
    return report as Report
  }
}
