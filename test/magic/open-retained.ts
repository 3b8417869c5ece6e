import { onTestFinished } from 'vitest'
import { parseWrite, type WriteOptions } from '../../src/core/parse.ts'
import type { Append, Commit, Receipt } from '../../src/core/ports.ts'
import type { MagicRefusal } from '../../src/magic/lane.ts'
import type { MagicResource } from '../../src/magic/magic-resource.ts'
import { createMagicRegistry, hasMagic } from '../../src/magic/registry.ts'
import { RetainedState, type RetainedStateParts } from '../../src/magic/retained-state.ts'
import type { Store, StoreDriver } from '../../src/store/contract.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { openStore } from '../../src/store/open-store.ts'

export interface OpenRetainedOptions {
  readonly driver?: StoreDriver
  readonly magicResources?: readonly MagicResource[]
  readonly storeTimeout?: number
  /** Resolves when the states that are told may go on. */
  readonly room?: Promise<void>
  /** What is written while the handler starts. */
  readonly duringStart?: readonly object[]
  /** Stands between the handler and the store. */
  readonly onAppend?: (write: Append, append: (write: Append) => Promise<Receipt>) => Promise<Receipt>
  /** Likewise. */
  readonly between?: (store: Store) => Partial<RetainedStateParts>
}

/** Whose records `duringStart` are. */
export const startThing = 'aaaaaaaaaaaaaaaa'

export type OpenRetained = Awaited<ReturnType<typeof openRetained>>

/** The handler on a store of its own, in memory unless said otherwise; closed at the end of the test. */
export async function openRetained(options: OpenRetainedOptions = {}) {
  const { driver = createMemoryStore(), storeTimeout, onAppend } = options
  const store = await openStore(driver, storeTimeout === undefined ? {} : { storeTimeout })
  const { records, documents, clock } = store
  /** Every commit since the store was opened. */
  const commits: Commit[] = []
  const stop = records.onCommit(commit => commits.push(commit))
  records.logWhen(write => hasMagic(write.records))
  const magic = createMagicRegistry(options.magicResources)
  const refusals: MagicRefusal[] = []
  const defects: unknown[] = []
  /** Sends records; resolves when the write is acknowledged. */
  const writeWith = async (thingId: string, options: WriteOptions, ...values: object[]) => {
    const body = Buffer.from(JSON.stringify({ values }))
    const { records: parsed, ...flags } = parseWrite(body, { options, now: clock.now(), magic })
    const { store: isStored, broadcast } = flags
    await records.append({ thingId, records: parsed, store: isStored, broadcast, answer: {} })
  }
  const retained = new RetainedState({
    nodes: store.nodes,
    records: onAppend ? { ...records, append: write => onAppend(write, records.append) } : records,
    documents,
    magic,
    clock,
    live: { room: () => options.room },
    onRefused: refusal => refusals.push(refusal),
    onDefect: error => defects.push(error),
    retryDelay: 1,
    ...options.between?.(store),
  })
  if (options.duringStart) await writeWith(startThing, {}, ...options.duringStart)
  /** Closes the handler, then the store. */
  const close = async () => {
    await retained.close()
    stop()
    await store.close()
  }
  onTestFinished(close)
  return {
    retained,
    store,
    commits,
    refusals,
    defects,
    write: (thingId: string, ...values: object[]) => writeWith(thingId, {}, ...values),
    writeWith,
    /** The states that were announced so far, in order, values parsed. */
    told: (thingId?: string) =>
      commits
        .filter(commit => commit.broadcast && (thingId === undefined || commit.thingId === thingId))
        .flatMap(({ latest }) => latest)
        .map(({ key, record }) => ({
          key,
          value: record ? (JSON.parse(record.value) as unknown) : undefined,
        })),
    close,
  }
}
