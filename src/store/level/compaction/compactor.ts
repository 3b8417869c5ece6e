import { type EventLoopUtilization, performance } from 'node:perf_hooks'
import { isPassing } from '../database/level-errors.ts'
import { type Entry, firstEntries } from '../database/scan.ts'
import { behind, type KeyRange, keysOf, prefix } from '../keys.ts'
import { type PackedSizes, ResourceCompactor, type ResourceCompactorParts } from './resource-compactor.ts'

export interface Compaction extends PackedSizes {
  /** Number of new records after which a resource is due for packing. */
  readonly growth: number
  /** Milliseconds from `start` to the first pass. A store that is opened only briefly needs no pass. */
  readonly firstLook: number
  /** The pause after a step, as a multiple of the step's duration: `idle` on an idle event loop, `busy` on a fully loaded one. */
  readonly rests: { readonly idle: number; readonly busy: number }
}

export const usualCompaction: Compaction = {
  newest: 256,
  records: 512,
  least: 512,
  growth: 512,
  fewestOfDay: 2_048,
  firstLook: 1_000,
  rests: { idle: 4, busy: 32 },
}

interface CompactorParts extends ResourceCompactorParts {
  /** Whether the disk is short of space. Compaction needs some space before it frees more. */
  readonly isShort: () => Promise<boolean>
}

/** Milliseconds after which a failed step is retried, or a full disk is checked again. */
const retryDelay = 1_000
const resourcesAtOnce = 64

/** Packs resources in idle time: first every resource once, then the resources that `Unpacked` reports as due. */
export class Compactor {
  readonly #parts: CompactorParts
  readonly #compaction: Compaction
  #isStopped = false
  #running: Promise<void> = Promise.resolve()
  #endPause: () => void = () => {}
  #endWait: () => void = () => {}
  #load: EventLoopUtilization = performance.eventLoopUtilization()
  readonly #resources: ResourceCompactor

  constructor(parts: CompactorParts, compaction: Compaction) {
    this.#parts = parts
    this.#compaction = compaction
    this.#resources = new ResourceCompactor(parts, compaction, {
      rest: worked => this.#rest(worked),
      isOver: async () => this.#isStopped || (await parts.isShort()),
    })
  }

  start(): void {
    this.#parts.unpacked.onDue = () => this.#endWait()
    this.#running = this.#run()
  }

  /** Resolves when the current step is done. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#endPause()
    this.#endWait()
    await this.#running
  }

  async #run(): Promise<void> {
    await this.#pause(this.#compaction.firstLook)
    await this.packAll()
    while (!this.#isStopped) {
      await this.#wait()
      if (this.#parts.unpacked.takeForgetful()) await this.packAll()
      await this.#packDueAndCompact()
    }
  }

  /** Packs every resource once, and resources that become due meanwhile. Never rejects. */
  async packAll(): Promise<void> {
    const { gte, lt } = keysOf(prefix.resource)
    for (let from: Buffer | undefined = gte; from && !this.#isStopped; ) {
      const range: KeyRange = { gte: from, lt }
      const read = () => firstEntries(this.#parts.database, range, { limit: resourcesAtOnce })
      const entries: readonly Entry[] | undefined = await this.#attempt(read)
      if (!entries) continue
      for (const [, number] of entries) {
        await this.#packDue()
        await this.#look(number.readUInt32BE(0))
      }
      const last = entries.at(-1)
      from = last && behind(last[0])
    }
    await this.#packDueAndCompact()
  }

  async #packDueAndCompact(): Promise<void> {
    do await this.#packDue()
    while (!this.#isStopped && (await this.#attempt(() => this.#resources.compactNext())))
  }

  async #packDue(): Promise<void> {
    const { unpacked } = this.#parts
    while (!this.#isStopped) {
      const resource = unpacked.takeDue()
      if (resource === undefined) return
      await this.#look(resource)
    }
  }

  async #look(resource: number): Promise<void> {
    while (!this.#isStopped && (await this.#parts.isShort())) await this.#pause(retryDelay)
    if (!this.#isStopped) await this.#attempt(() => this.#resources.packResource(resource), resource)
  }

  /** @param resource is made due again after an error that may pass @returns undefined after any error */
  async #attempt<T>(task: () => Promise<T>, resource?: number): Promise<T | undefined> {
    try {
      return await task()
    } catch (error) {
      // A damaged resource is not packed; `checkLevelStore` reports the damage.
      if (resource !== undefined && isPassing(error)) this.#parts.unpacked.putBack(resource)
      await this.#pause(retryDelay)
      return undefined
    }
  }

  async #rest(worked: number): Promise<void> {
    const load = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(load, this.#load)
    this.#load = load
    const { idle, busy } = this.#compaction.rests
    await this.#pause(worked * (idle + (busy - idle) * utilization ** 2))
  }

  async #pause(milliseconds: number): Promise<void> {
    if (this.#isStopped) return
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>(resolve => {
      this.#endPause = resolve
      timer = setTimeout(resolve, milliseconds).unref()
    })
    clearTimeout(timer)
  }

  async #wait(): Promise<void> {
    if (this.#isStopped || this.#parts.unpacked.isAnyDue) return
    await new Promise<void>(resolve => {
      this.#endWait = resolve
    })
  }
}
