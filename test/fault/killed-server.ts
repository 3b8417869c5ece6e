import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { noRateLimits, type ServerProcess, startServer } from '../helpers/server-process.ts'
import { killedAt, killedOnOrder } from './kill-point.ts'

/** In which one that is to kill itself does so once it is ready, if it ever does, milliseconds. */
const dyingWithin = 10_000

/** The lives of a server on one data directory, which are ended at named points. */
export class KilledServer {
  readonly dataDir: string
  readonly #program: { readonly program?: string }
  #running: ServerProcess | undefined

  /**
   * @param dataDir empty or missing
   * @param program instead of the command
   */
  constructor(dataDir: string, program?: string) {
    this.dataDir = dataDir
    this.#program = program === undefined ? {} : { program }
  }

  /** The one that runs, or a new one. */
  async start(): Promise<ServerProcess> {
    this.#running ??= await this.#start(killedOnOrder(this.#orderFile, this.#proofFile))
    return this.#running
  }

  /** From now on it is to kill itself at this point; what it was told before is not to be there. */
  async order(server: ServerProcess, point: string, after: number): Promise<void> {
    await rm(this.#proofFile, { force: true })
    await writeFile(this.#orderFile, JSON.stringify({ point, after }))
    server.process.kill('SIGUSR2')
  }

  /** Resolves when the running one is gone; kills it after some milliseconds. */
  async gone(task: Promise<unknown>, milliseconds: number): Promise<void> {
    const server = this.#running
    const overdue = setTimeout(() => server?.kill(), milliseconds)
    await Promise.all([task, server?.exited])
    clearTimeout(overdue)
    this.#running = undefined
  }

  /** Starts one that kills itself at the point from its start on; resolves when it is gone, with or without `task`. */
  async startAndDie(
    point: string,
    after: number,
    task: (server: ServerProcess) => Promise<unknown> = async () => {},
  ): Promise<void> {
    await rm(this.#proofFile, { force: true })
    // It may be gone before it is ready.
    const server = await this.#start(killedAt(point, after, this.#proofFile)).catch(() => undefined)
    if (!server) return
    const overdue = setTimeout(() => server.kill(), dyingWithin)
    await task(server).catch(() => {})
    await server.exited
    clearTimeout(overdue)
  }

  /** What the one that died has said of the point at which it was; undefined if it did not come so far. */
  async proof(): Promise<string | undefined> {
    return existsSync(this.#proofFile) ? await readFile(this.#proofFile, 'utf8') : undefined
  }

  async stop(): Promise<void> {
    await this.#running?.stop()
    this.#running = undefined
  }

  /** Kills what still runs. */
  async abandon(): Promise<void> {
    await this.#running?.kill()
  }

  async #start(environment: NodeJS.ProcessEnv): Promise<ServerProcess> {
    const { dataDir } = this
    await mkdir(dataDir, { recursive: true })
    return await startServer({ dataDir, environment: { ...noRateLimits, ...environment }, ...this.#program })
  }

  get #proofFile(): string {
    return join(this.dataDir, 'proof')
  }

  get #orderFile(): string {
    return join(this.dataDir, 'order')
  }
}
