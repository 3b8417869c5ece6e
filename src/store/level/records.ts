import type { Observer } from '../../core/observer.ts'
import type { Commit, DriverRecords, Receipt } from '../contract.ts'
import { GroupCommit } from '../group-commit.ts'
import { Listeners } from '../listeners.ts'
import { ReceiptClock } from '../receipt-clock.ts'
import { weigh } from '../weigh.ts'
import type { LevelPendingCommit } from './commit-group.ts'
import { LevelCommitter } from './committer.ts'
import { type Compaction, Compactor } from './compaction/compactor.ts'
import type { Database } from './database/database.ts'
import type { DiskSpace } from './database/disk-space.ts'
import { Head } from './database/head.ts'
import { removeKeys } from './database/remove-keys.ts'
import { scan } from './database/scan.ts'
import { encodeDocuments } from './documents.ts'
import { emptiedKey, keysOf, prefix, resourceByKeyKey, secondName, stateKey } from './keys.ts'
import { LevelCommitLog } from './log/commit-log.ts'
import { aggregate } from './reading/aggregate.ts'
import { emptyPage, readPage } from './reading/pages.ts'
import { LevelSnapshot } from './reading/snapshot.ts'
import { LevelRefusedWrites } from './refused-writes.ts'
import { Removals } from './removals.ts'
import { Resources } from './resources.ts'
import { OldRecords } from './staging/old-records.ts'
import { Unpacked } from './staging/unpacked.ts'
import { decodeState } from './states.ts'
import { WriteIds } from './write-ids.ts'

/** Maximum bytes of a commit group, as counted by `weigh`: about 6,000 short values, staged in 8 ms. More is no faster. */
const maximumGroupBytes = 256 * 1024

/** Creates the `DriverRecords` of the embedded store, and the queue (`commits`) for all its commits. */
export function createRecords(
  database: Database,
  space: DiskSpace,
  sync: boolean,
  observer: Pick<Observer, 'committed'> | undefined,
  compaction: Compaction,
) {
  const head = new Head()
  const clock = new ReceiptClock()
  const resources = new Resources(database)
  const writeIds = new WriteIds(database)
  const refused = new LevelRefusedWrites(database, () => space.isShort)
  const log = new LevelCommitLog(database)
  const unpacked = new Unpacked(compaction.growth)
  const listeners = new Listeners<(commit: Commit) => void>()
  const announce = (commit: Commit) => {
    for (const listener of listeners) listener(commit)
  }
  const parts = { database, head, resources, log, unpacked, announce }
  const committer = new LevelCommitter({
    ...parts,
    clock,
    writeIds,
    sync,
    isFull: () => space.isShort,
    trimWriteIds: thingId => {
      // If a trim fails, the next trim removes the same ids.
      commits.alone(() => writeIds.trim(thingId)).catch(() => {})
    },
  })
  const commits: GroupCommit<LevelPendingCommit, Receipt> = new GroupCommit(
    {
      commit: (group, begun) => database.use(() => committer.commit(group, begun)),
      prepare: item => committer.prepare(item),
      mayPass,
    },
    ({ write, documents }) => weigh(write, documents),
    maximumGroupBytes,
    undefined,
    (changes, seconds) => observer?.committed(changes, seconds),
  )
  const isShort = () => space.isShort
  const removals = new Removals({ ...parts, isShort, alone: task => commits.alone(task) })
  const old = new OldRecords({ ...parts, inTurn: task => removals.inTurn(() => commits.alone(task)) })
  const compactor = new Compactor(
    { ...parts, isShort: () => space.isShortNow(), between: task => commits.between(task) },
    compaction,
  )

  const records: DriverRecords = {
    append(write, ticket) {
      const documents = encodeDocuments(write.documents)
      return commits.push({ write, documents, ticket, receivedAt: Number.NaN })
    },
    answerOf: async (thingId, id, now) =>
      (await database.read(() => writeIds.find(thingId, id, now)))?.answer,
    read: (thingId, key, query) =>
      database.read(async () => {
        const resource = await resources.find(thingId, key)
        if (resource !== undefined) return await readPage(database, resource, key, query)
        return (await database.level.has(emptiedKey(thingId, key))) ? emptyPage(query) : undefined
      }),
    aggregate: (...query) => database.read(() => aggregate(database, ...query)),
    things: page => database.read(() => resources.things(page)),
    resources: thingId => database.read(() => resources.names(thingId)),
    state: (thingId, key) =>
      database.read(async () => {
        const bytes = await database.level.get(stateKey(thingId, key))
        return bytes && decodeState(key, bytes)
      }),
    snapshot: () =>
      commits.alone(() => database.use(async () => new LevelSnapshot(database, head.counters.writeNumber))),
    catchUp: () => commits.alone(async () => head.counters.writeNumber),
    remove: (thingId, key, range) => removals.remove(thingId, key, range, { isDelivered: true }),
    removeOld: (thingId, key, before, from) => database.use(() => old.remove(thingId, key, before, from)),
    async removeThing(thingId) {
      for (const key of await records.resources(thingId)) {
        await removals.remove(thingId, key, {}, { isDelivered: false })
      }
      const { writeNumber } = head.counters
      // Removes most log entries first, since writes have to wait during `removeRest`.
      await database.use(() => log.removeThing(thingId, 0))
      await commits.alone(() => database.use(() => removeRest(thingId, writeNumber)))
    },
    logWhen: isWanted => {
      log.isWanted = isWanted
    },
    readLog: query => database.read(() => log.read(query)),
    trimLog: writeNumbers => database.use(() => log.trim(writeNumbers)),
    onCommit: listeners.listen,
  }
  return { records, commits, head, clock, refused, compactor }

  async function removeRest(thingId: string, logFrom: number): Promise<void> {
    await log.removeThing(thingId, logFrom)
    await removeStates(thingId)
    for (const kind of [prefix.emptied, prefix.writeId, prefix.writeIdOrder, prefix.refused]) {
      await removeKeys(database, keysOf(kind, thingId))
    }
    for (const each of [resources, writeIds, log, refused]) each.forgetThing(thingId)
  }

  async function removeStates(thingId: string): Promise<void> {
    for await (const entries of scan(database, keysOf(prefix.state, thingId))) {
      const batch = database.batch()
      for (const [name] of entries) batch.del(name).del(resourceByKeyKey(secondName(name), thingId))
      await database.write(batch, { sync: true })
    }
  }
}

/** Only a write with a sender and no documents may pass another item, but never a write of the same sender or thing (§4.3). */
function mayPass({ write, documents }: LevelPendingCommit, { write: before }: LevelPendingCommit): boolean {
  if (!write?.sender || documents.length > 0) return false
  return !before || (write.sender !== before.sender && write.thingId !== before.thingId)
}
