import { mkdir } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { reasonOf } from '../helpers/http-connection.ts'
import { noRateLimits, type ServerProcess, startServer } from '../helpers/server-process.ts'
import { Audience } from './audience.ts'
import { Strace } from './strace.ts'

/** What holds a server up for longer than a write is waited for. */
export const pauses = ['SIGSTOP', 'fsync held back'] as const
export type Pause = (typeof pauses)[number]

/** Of a pause, milliseconds: some are a little shorter than `storeTimeout`. */
const shortest = 4_500
const longest = 8_000

export interface PauseRound {
  readonly pause: Pause
  /** Milliseconds. */
  readonly held: number
  /** In this round. */
  readonly acks: number
  /** Writes over HTTP that were answered store_timeout. */
  readonly givenUp: number
  /** Connections over MQTT that were opened again. */
  readonly reconnects: number
  /** Since the first round, in words; in what order things came, `finish` says. */
  readonly violations: readonly string[]
}

/** Rounds of load on one server that stands still in the midst of it, goes on, and is sent again what it did not acknowledge. */
export class PauseRun {
  readonly #dataDir: string
  readonly #command: string | undefined
  readonly #audience: Audience
  #server: ServerProcess | undefined

  /**
   * @param dataDir empty or missing
   * @param deadline for what was stored to be received, milliseconds
   * @param command the server, built from some tree; default: this one
   */
  constructor(dataDir: string, deadline = 30_000, command?: string) {
    this.#dataDir = dataDir
    this.#command = command
    this.#audience = new Audience(deadline)
  }

  async pause(pause: Pause): Promise<PauseRound> {
    const audience = this.#audience
    const server = await this.#start()
    await audience.begin(server)
    const acked = audience.acks
    const held = Math.round(shortest + Math.random() * (longest - shortest))
    await audience.leaveAway()
    let givenUp = 0
    let reconnects = 0
    // In the midst of the load, however fast the machine is.
    let left = Math.ceil(Math.random() * 60)
    let begin = () => {}
    const begun = new Promise<void>(resolve => (begin = resolve))
    const load = audience.load(server, {
      sizes: 'one',
      isToDie: false,
      onAnswer: answer => {
        if (--left === 0) begin()
        if (answer.status === 503 && reasonOf(answer) === 'store_timeout') givenUp++
      },
      onConnack: () => reconnects++,
    })
    await begun
    if (pause === 'SIGSTOP') await stop(server, held)
    else await holdSyncs(server, held)
    await load
    await audience.reconnect(server)
    await audience.settle(server)
    const violations = [...audience.violations, ...(await audience.checkStored(server))]
    return { pause, held, acks: audience.acks - acked, givenUp, reconnects, violations }
  }

  /** Everything that is wrong, in words. To be called last. */
  async finish(): Promise<readonly string[]> {
    await this.#audience.leave()
    await this.#server?.stop()
    await this.#audience.checkOrder(this.#dataDir)
    return this.#audience.violations
  }

  /** Kills what still runs. */
  async abandon(): Promise<void> {
    await this.#server?.kill()
  }

  async #start(): Promise<ServerProcess> {
    const dataDir = this.#dataDir
    await mkdir(dataDir, { recursive: true })
    this.#server ??= await startServer({ dataDir, environment: noRateLimits, command: this.#command })
    return this.#server
  }
}

async function stop(server: ServerProcess, milliseconds: number): Promise<void> {
  server.process.kill('SIGSTOP')
  await delay(milliseconds)
  server.process.kill('SIGCONT')
}

/** No group of writes is durable before it lets go. */
async function holdSyncs(server: ServerProcess, milliseconds: number): Promise<void> {
  const inject = `inject=fdatasync,fsync:delay_enter=${2 * longest * 1_000}`
  const strace = await Strace.attach(Number(server.process.pid), [
    '-e',
    'trace=fdatasync,fsync',
    '-e',
    inject,
  ])
  await delay(milliseconds)
  await strace.detach()
}
