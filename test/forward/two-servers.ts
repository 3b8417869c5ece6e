import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ask, createThing, type ReadRecord, readAll, type Thing } from '../helpers/http-client.ts'
import { noRateLimits, type ServerProcess, startServer } from '../helpers/server-process.ts'
import { openPath, type TcpPath } from '../helpers/tcp-path.ts'
import { eventually } from '../helpers/waiting.ts'

/** A thing here, and what it is there. */
export interface ForwardedThing {
  readonly here: Thing
  readonly there: Thing
}

interface Forwarding {
  readonly connected: boolean
  readonly problem?: string
  readonly waiting: { readonly records: number; readonly counted: boolean; readonly oldest?: string }
  readonly forwarded: { readonly records: number; readonly bytes: number }
  readonly refusedRecords: number
  readonly droppedRecords: number
  readonly held: readonly { readonly thingId: string; readonly why: string }[]
  readonly refused: readonly {
    readonly thingId: string
    readonly key: string
    readonly reason: string
    readonly message: string
  }[]
  readonly unknownThings: readonly string[]
  readonly omittedThings: readonly string[]
  readonly activated: readonly { readonly thingId: string; readonly there: string }[]
}

/** A server that forwards (`edge`) and a central one, with a way between them that can be cut. Whoever opens them ends them. */
export class TwoServers {
  readonly #directory: string
  #edge: ServerProcess | undefined
  #central: ServerProcess | undefined
  #path: TcpPath | undefined
  #target: string | undefined
  readonly things: ForwardedThing[] = []
  /** Options of the server that forwards, for its next start. */
  args: readonly string[] = []

  /** @param directory for the data of both */
  constructor(directory: string) {
    this.#directory = directory
  }

  static async open(directory: string, things: number): Promise<TwoServers> {
    const servers = new TwoServers(directory)
    await servers.startCentral()
    const edge = await startServer({ dataDir: servers.edgeDir })
    for (let place = 0; place < things; place++) {
      servers.things.push({ here: await createThing(edge), there: await createThing(servers.central) })
    }
    await edge.stop()
    await servers.writeMap(servers.map)
    return servers
  }

  get edge(): ServerProcess {
    if (!this.#edge) throw new Error('the server that forwards is not started')
    return this.#edge
  }

  get central(): ServerProcess {
    if (!this.#central) throw new Error('the central server is not started')
    return this.#central
  }

  get path(): TcpPath {
    if (!this.#path) throw new Error('there is no way to the central server')
    return this.#path
  }

  get edgeDir(): string {
    return join(this.#directory, 'edge')
  }

  get mapFile(): string {
    return join(this.#directory, 'things.json')
  }

  /** Default: plain MQTT, over the way that can be cut. */
  get target(): string {
    return this.#target ?? `mqtt://127.0.0.1:${this.path.port}`
  }

  set target(url: string) {
    this.#target = url
  }

  /** Ids here, tokens there. */
  get map(): Record<string, string> {
    return Object.fromEntries(this.things.map(({ here, there }) => [here.thingId, there.thingToken]))
  }

  async writeMap(map: object): Promise<void> {
    await writeFile(this.mapFile, JSON.stringify(map), { mode: 0o600 })
  }

  async startEdge(): Promise<ServerProcess> {
    const forward = ['--forward', this.target, '--forward-things', this.mapFile]
    this.#edge = await startServer({
      dataDir: this.edgeDir,
      args: [...forward, ...this.args],
      environment: noRateLimits,
    })
    return this.#edge
  }

  async startCentral(environment: NodeJS.ProcessEnv = {}): Promise<ServerProcess> {
    this.#central = await startServer({
      dataDir: join(this.#directory, 'central'),
      environment: { ...noRateLimits, ...environment },
    })
    this.#path ??= await openPath(() => Number(new URL(this.central.mqttUrl).port))
    return this.#central
  }

  async forwarding(): Promise<Forwarding> {
    return await ask(this.edge, 'GET', '/v2/admin/forward')
  }

  /** Resolves when nothing waits any more. @throws Error if something does for too long */
  async untilForwarded(time = 120_000): Promise<void> {
    const isDone = async () => {
      const { waiting } = await this.forwarding()
      return waiting.counted && waiting.records === 0
    }
    if (await eventually(isDone, time)) return
    throw new Error(`records still wait: ${JSON.stringify(await this.forwarding())}`)
  }

  /** What both hold of a thing: every record of every key, oldest first. */
  async records({ here, there }: ForwardedThing): Promise<{ edge: ReadRecord[]; central: ReadRecord[] }> {
    return { edge: await recordsOf(this.edge, here), central: await recordsOf(this.central, there) }
  }

  async end(): Promise<void> {
    await Promise.all([this.#edge?.kill(), this.#central?.kill()])
    await this.#path?.close()
  }
}

async function recordsOf(server: ServerProcess, thing: Thing): Promise<ReadRecord[]> {
  const path = `/v2/things/${thing.thingId}/resources`
  const { resources } = await ask<{ resources: string[] }>(server, 'GET', path)
  const settings = ['$settings', '$settings.name', '$settings.limits']
  const keys = [...resources.filter(key => !key.startsWith('$settings')), ...settings].sort()
  const all: ReadRecord[] = []
  for (const key of keys) {
    // A path of the settings that was never written is not there.
    const records = await readAll(server, thing, key).catch(() => [])
    all.push(...records.reverse())
  }
  return all
}
