import { isMagicKey } from '../../core/record/key.ts'
import { receive, type StoredRecord, storedForm } from '../../core/record/record.ts'
import { ThingwireError } from '../../errors.ts'
import type {
  Append,
  Commit,
  CommitTicket,
  DriverRecords,
  Latest,
  LatestOfThing,
  LatestQuery,
  LogQuery,
  Page,
  Receipt,
  RecordStore,
  Snapshot,
  TimeRange,
  WriteAnswer,
} from '../contract.ts'
import { toTexts } from '../document-texts.ts'
import type { GroupCommit } from '../group-commit.ts'
import { latestPages } from '../latest-pages.ts'
import { Listeners } from '../listeners.ts'
import type { ReceiptClock } from '../receipt-clock.ts'
import { rememberedFor, rememberedIds } from '../resend.ts'
import type { MemoryDocuments } from './documents.ts'
import { lengthOfPage, TimeLine } from './time-line.ts'

export interface MemoryPendingCommit {
  readonly ticket: CommitTicket<Receipt>
  run(): Receipt | Error
}

interface Thing {
  readonly resources: Map<string, TimeLine>
  readonly states: Map<string, StoredRecord>
  readonly writeIds: WriteIds
}

export function createMemoryRecords(
  commits: GroupCommit<MemoryPendingCommit, Receipt>,
  documents: MemoryDocuments,
  clock: Pick<ReceiptClock, 'receive' | 'newest'>,
): DriverRecords {
  const things = new Map<string, Thing>()
  const listeners = new Listeners<(commit: Commit) => void>()
  const log = new MemoryCommitLog()
  let newestWriteNumber = 0

  return {
    append: (write, ticket) => {
      const texts = toTexts(write.documents)
      const run = () => {
        if (ticket.expired) return new ThingwireError('store_timeout')
        const receivedAt = clock.receive()
        receive(write.records, receivedAt)
        if (makesTooManyResources(write, receivedAt)) return new ThingwireError('too_many_resources')
        documents.putTexts(texts)
        return commit(write, receivedAt)
      }
      commits.push({ run, ticket })
    },
    answerOf: async (thingId, id, now) => things.get(thingId)?.writeIds.answerOf(id, now),
    read: async (thingId, key, query): Promise<Page | undefined> =>
      things.get(thingId)?.resources.get(key)?.page(query),
    aggregate: async (thingId, key, query) => things.get(thingId)?.resources.get(key)?.aggregate(query),
    things: async ({ after = '', limit }) =>
      [...things.keys()]
        .filter(thingId => thingId > after)
        .sort()
        .slice(0, limit),
    resources: async thingId =>
      [...(things.get(thingId)?.resources ?? [])]
        .flatMap(([key, { isEmpty }]) => (isEmpty ? [] : [key]))
        .sort(),
    state: async (thingId, key) => things.get(thingId)?.states.get(key),
    snapshot: () =>
      commits.alone(async () => createMemorySnapshot(newestWriteNumber, [...things].flatMap(latestOf))),
    catchUp: () => commits.alone(async () => newestWriteNumber),
    remove: (thingId, key, range) => commits.alone(async () => remove(thingId, key, range)),
    removeOld: (thingId, key, before) =>
      commits.alone(async () => ({ count: things.get(thingId)?.resources.get(key)?.removeOld(before) ?? 0 })),
    removeThing: thingId =>
      commits.alone(async () => {
        things.delete(thingId)
        log.removeThing(thingId)
      }),
    onCommit: listeners.listen,
    logWhen: isWanted => {
      log.isWanted = isWanted
    },
    readLog: async query => log.read(query),
    trimLog: async writeNumbers => log.trim(writeNumbers),
  }

  function commit(write: Append, receivedAt: number): Receipt {
    const { thingId, id, answer, store, broadcast, states = [] } = write
    const thing = thingOf(thingId)
    const first = id === undefined ? undefined : thing.writeIds.answerOf(id, receivedAt)
    if (first) return { writeNumber: 0, answer: first }
    const writeNumber = ++newestWriteNumber
    const records = store ? keep(thing, write, writeNumber) : write.records
    const latest = states.map(({ key, record }) => ({ key, record: record && storedForm(record) }))
    if (store) putStates(thing, latest)
    if (id !== undefined) thing.writeIds.take(id, answer, receivedAt)
    deliver({ thingId, writeNumber, receivedAt, records, latest, stored: store, broadcast })
    return { writeNumber, answer }
  }

  function makesTooManyResources(write: Append, receivedAt: number): boolean {
    const { thingId, id, records, store, maximumResources } = write
    if (!store || maximumResources === undefined) return false
    const { resources, writeIds } = thingOf(thingId)
    if (id !== undefined && writeIds.answerOf(id, receivedAt)) return false
    const added = new Set(records.flatMap(({ key }) => ((resources.get(key)?.isEmpty ?? true) ? [key] : [])))
    if (added.size === 0) return false
    const present = [...resources.values()].filter(({ isEmpty }) => !isEmpty)
    return present.length + added.size > maximumResources
  }

  function remove(thingId: string, key: string, range: TimeRange): number {
    const timeLine = things.get(thingId)?.resources.get(key)
    if (!timeLine) return 0
    const { newest } = timeLine
    const removed = timeLine.remove(range)
    if (timeLine.newest === newest || isMagicKey(key)) return removed
    deliver({
      thingId,
      writeNumber: ++newestWriteNumber,
      receivedAt: clock.newest(),
      records: [],
      latest: [{ key, record: timeLine.newest }],
      stored: true,
      broadcast: true,
    })
    return removed
  }

  function deliver(commit: Commit): void {
    log.add(commit)
    for (const listener of listeners) listener(commit)
  }

  function thingOf(thingId: string): Thing {
    const known = things.get(thingId)
    const thing = known ?? { resources: new Map(), states: new Map(), writeIds: new WriteIds() }
    things.set(thingId, thing)
    return thing
  }
}

/** Stores the records of a write. @returns the records that were not stored before */
function keep({ resources }: Thing, { records }: Append, writeNumber: number): Append['records'] {
  return records.filter(record => {
    const timeLine = resources.get(record.key) ?? new TimeLine()
    resources.set(record.key, timeLine)
    return timeLine.add(record, writeNumber)
  })
}

function putStates({ states }: Thing, latest: readonly Latest[]): void {
  for (const { key, record } of latest) {
    if (record) states.set(key, record)
    else states.delete(key)
  }
}

function latestOf([thingId, { resources, states }]: [string, Thing]): LatestOfThing[] {
  const ordinary = [...resources].flatMap(([key, { newest: record }]) =>
    record && !isMagicKey(key) ? [{ thingId, key, record }] : [],
  )
  return [...ordinary, ...[...states].map(([key, record]) => ({ thingId, key, record }))]
}

/** The logged commits (`RecordStore.logWhen`). */
class MemoryCommitLog {
  isWanted: Parameters<RecordStore['logWhen']>[0] = () => false
  /** Commits by write number, oldest first. */
  readonly #commits = new Map<number, Commit>()

  add(commit: Commit): void {
    const { thingId, records, latest, stored, broadcast } = commit
    if (!stored || (records.length === 0 && latest.length === 0)) return
    if (this.isWanted({ thingId, records, broadcast })) this.#commits.set(commit.writeNumber, commit)
  }

  read({ after, before, order, limit, isOf = () => true }: LogQuery): Commit[] {
    const inRange = [...this.#commits.values()].filter(
      ({ writeNumber, thingId }) => writeNumber > after && writeNumber < before && isOf(thingId),
    )
    if (order === 'desc') inRange.reverse()
    return inRange.slice(0, Math.min(limit, lengthOfPage(inRange, lengthOf)))
  }

  trim(writeNumbers: readonly number[]): void {
    for (const writeNumber of writeNumbers) this.#commits.delete(writeNumber)
  }

  removeThing(thingId: string): void {
    for (const commit of this.#commits.values()) {
      if (commit.thingId === thingId) this.#commits.delete(commit.writeNumber)
    }
  }
}

function lengthOf({ records, latest }: Commit): number {
  const texts = [...records, ...latest.flatMap(({ record }) => record ?? [])]
  return texts.reduce((characters, { value }) => characters + value.length, 0)
}

/** @param latest the state or latest record of every resource as of the commit `writeNumber` */
function createMemorySnapshot(writeNumber: number, latest: readonly LatestOfThing[]): Snapshot {
  let isOpen = true

  return {
    writeNumber,
    async *latest(query) {
      const selected = latest.filter(each => isSelected(each, query))
      for await (const page of latestPages([selected])) {
        if (!isOpen) throw new ThingwireError('store_unavailable', 'the snapshot is closed')
        yield page
      }
    },
    close: async () => {
      isOpen = false
    },
  }
}

function isSelected(each: LatestOfThing, { thingId, key }: LatestQuery): boolean {
  return (thingId === undefined || each.thingId === thingId) && (key === undefined || each.key === key)
}

/** The write ids of one thing, with the answers of their writes (contract §4, resend (c)). */
export class WriteIds {
  /** Known writes by write id, oldest first. */
  readonly #taken = new Map<string, { readonly answer: WriteAnswer; readonly receivedAt: number }>()

  /** @param now receipt time of the repeated write, milliseconds */
  answerOf(id: string, now: number): WriteAnswer | undefined {
    const taken = this.#taken.get(id)
    return taken && now - taken.receivedAt <= rememberedFor ? taken.answer : undefined
  }

  take(id: string, answer: WriteAnswer, receivedAt: number): void {
    this.#taken.delete(id)
    this.#taken.set(id, { answer, receivedAt })
    const [oldest] = this.#taken.keys()
    if (this.#taken.size > rememberedIds && oldest !== undefined) this.#taken.delete(oldest)
  }
}
