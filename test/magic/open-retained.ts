import { onTestFinished } from 'vitest'
import { parseWrite, type WriteOptions } from '../../src/core/parse.ts'
import type { Append, Commit, Latest, Receipt } from '../../src/core/ports.ts'
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

export interface OpenRetained {
  readonly retained: RetainedState
  readonly store: Store
  /** Every commit since the store was opened. */
  readonly commits: readonly Commit[]
  readonly refusals: readonly MagicRefusal[]
  readonly defects: readonly unknown[]
  /** Sends records; resolves when the write is acknowledged. */
  write(thingId: string, ...values: object[]): Promise<void>
  writeWith(thingId: string, options: WriteOptions, ...values: object[]): Promise<void>
  /** The states that were announced so far, in order, values parsed. */
  told(thingId?: string): ToldState[]
  /** Closes the handler, then the store. */
  close(): Promise<void>
}

/** Whose records `duringStart` are. */
export const startThing = 'aaaaaaaaaaaaaaaa'

export interface ToldState {
  readonly key: string
  readonly value: unknown
}

/** The handler on a store of its own, in memory unless said otherwise; closed at the end of the test. */
export async function openRetained(options: OpenRetainedOptions = {}): Promise<OpenRetained> {
  const { driver = createMemoryStore(), storeTimeout, onAppend } = options
  const store = await openStore(driver, storeTimeout === undefined ? {} : { storeTimeout })
  const { records, documents, clock } = store
  const commits: Commit[] = []
  const stop = records.onCommit(commit => commits.push(commit))
  records.logWhen(write => hasMagic(write.records))
  const magic = createMagicRegistry(options.magicResources)
  const refusals: MagicRefusal[] = []
  const defects: unknown[] = []
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
    write: (thingId, ...values) => writeWith(thingId, {}, ...values),
    writeWith,
    told: thingId =>
      commits
        .filter(commit => commit.broadcast && (thingId === undefined || commit.thingId === thingId))
        .flatMap(({ latest }) => latest.map(toldState)),
    close,
  }
}

function toldState({ key, record }: Latest): ToldState {
  return { key, value: record ? JSON.parse(record.value) : undefined }
}
