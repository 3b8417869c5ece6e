import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { formatDatetime } from '../../src/core/record/datetime.ts'
import type { NewRecord } from '../../src/core/record/record.ts'
import { storeLocation } from '../../src/server/keeping/choose-store.ts'
import { bytesOfStore } from '../../src/store/level/database/directory-size.ts'
import { createLevelStore } from '../../src/store/level/index.ts'
import { createCompactingStore } from '../../src/store/level/store.ts'
import { openStore } from '../../src/store/open-store.ts'
import { openThings } from '../../src/things.ts'
import { type Thing, write } from '../../test/helpers/http-client.ts'
import { noRateLimits, type ServerProcess } from '../../test/helpers/server-process.ts'
import { noPacking, packStore } from '../compaction/packed-store.ts'
import { startWriting, steadily } from '../load/writes.ts'
import { idOf } from '../peers/peer.ts'
import { residentMemory } from '../peers/processes.ts'
import { startOwnServer } from '../peers/product.ts'
import { HttpLooks } from './http-looks.ts'
import type { Question } from './questions.ts'
import { key, rowsFor } from './rows.ts'
import type { OpenSide, Side } from './side.ts'

/** How the rows are written. */
export interface Shape {
  readonly name: string
  readonly recordsPerWrite: number
  /** Writes that wait for their ack at once. */
  readonly inFlight: number
}

export const shapes = [
  { name: 'product, batches', recordsPerWrite: 100, inFlight: 16 },
  { name: 'product, single writes', recordsPerWrite: 1, inFlight: 2_000 },
] as const satisfies readonly Shape[]

export interface ProductSide extends Side<OpenProduct> {
  /** On disk. */
  readonly bytesPerRecord: number
  /** In which the compactor packed it. */
  readonly secondsToPack: number
}

export interface OpenProduct extends OpenSide {
  /** Writes a record of the same key in the past. */
  writeLate(datetime: number): Promise<void>
  /** Devices write one value at a time over MQTT. @returns ends it, and gives how it went, in words */
  write(rate: number): Promise<() => Promise<string>>
  /** As `ask`, what a chart needs that is so many pixels wide. Times are milliseconds, `to` is exclusive. */
  chart(from: number, to: number, points: number): Promise<number>
  /** Resident now, bytes. */
  memory(): number
}

type Rows = ReturnType<typeof rowsFor>

interface Kept {
  readonly dataDir: string
  readonly adminKey: string
  readonly thing: Thing
  readonly writers: readonly Thing[]
}

const writers = 20

/** The embedded store behind the ready server, asked over HTTP. */
export async function makeProductSide(shape: Shape, parent: string, records: number): Promise<ProductSide> {
  const kept = await fill(shape, parent, rowsFor(shape.name, records))
  const location = storeLocation(kept.dataDir)
  const secondsToPack = await packStore(location)
  return {
    name: shape.name,
    bytesPerRecord: (await bytesOfStore(location)) / records,
    secondsToPack,
    open: async own => {
      const environment = { ...noRateLimits, THINGWIRE_ADMIN_KEY: kept.adminKey, ...own }
      return open(await startOwnServer({ dataDir: kept.dataDir, environment }), kept)
    },
    remove: () => rm(kept.dataDir, { recursive: true }),
  }
}

/** As doors do, but without a sync: it would be the disk that is measured. Nothing is packed yet. */
async function fill({ recordsPerWrite, inFlight }: Shape, parent: string, rows: Rows): Promise<Kept> {
  const dataDir = await mkdtemp(join(parent, 'product-'))
  const location = storeLocation(dataDir)
  const adminKey = randomBytes(32).toString('hex')
  const service = await openThings({ store: createLevelStore({ location }), adminKey })
  const thing = await service.registry.create({})
  const others: Thing[] = []
  while (others.length < writers) others.push(await service.registry.create({}))
  await service.close()

  const store = await openStore(createCompactingStore({ location, durability: 'written' }, noPacking))
  const { thingId } = thing
  const sender = async () => {
    for (let batch = nextBatch(rows, recordsPerWrite); batch.length > 0; ) {
      await store.records.append({ thingId, records: batch, store: true, broadcast: true, answer: {} })
      batch = nextBatch(rows, recordsPerWrite)
    }
  }
  await Promise.all(Array.from({ length: inFlight }, sender))
  await store.close()
  return { dataDir, adminKey, thing, writers: others }
}

function nextBatch(rows: Rows, size: number): NewRecord[] {
  const batch: NewRecord[] = []
  while (batch.length < size) {
    const row = rows.next().value
    if (row === undefined) break
    const { datetime, value } = row
    batch.push({ key, datetime, value: JSON.stringify(value), place: batch.length, explicit: true })
  }
  return batch
}

function open(server: ServerProcess, { thing, writers }: Kept): OpenProduct {
  const looks = new HttpLooks(server.url)
  const base = `/v2/things/${thing.thingToken}/resources/${key}`
  return {
    ask: (question, onPart) =>
      looks.get(
        `${base}?${parametersOf(question)}`,
        question.kind === 'csv' ? { accept: 'text/csv' } : {},
        onPart,
      ),
    write: async rate => {
      const tokens = writers.map(({ thingToken }) => thingToken)
      const { stop } = await startWriting(steadily(server.mqttUrl, tokens, rate))
      return async () => {
        const { done, seconds, latency } = await stop()
        const [p50, p99] = [latency?.p50.toFixed(1), latency?.p99.toFixed(1)]
        return `${Math.round(done / seconds)} writes/s, ack p50 ${p50} ms, p99 ${p99} ms`
      }
    },
    writeLate: async datetime => {
      const values = [{ key, value: 20, datetime: formatDatetime(datetime) }]
      const { status } = await write(server, thing, { values })
      if (status !== 201) throw new Error(`a late record was answered with ${status}`)
    },
    chart: (from, to, points) => {
      const window = { startDate: formatDatetime(from), endDate: formatDatetime(to) }
      const asked = new URLSearchParams({ ...window, points: String(points) })
      return looks.get(`${base}?${asked}`, {}, () => {})
    },
    memory: () => residentMemory(idOf(server)),
    close: async () => {
      looks.close()
      await server.stop()
    },
  }
}

function parametersOf(question: Question): URLSearchParams {
  const window = { startDate: 'from' in question ? question.from : undefined, endDate: question.to }
  const dates = Object.entries(window).flatMap(([name, time]) =>
    time === undefined ? [] : [[name, formatDatetime(time)]],
  )
  const asked = new URLSearchParams(Object.fromEntries(dates))
  if (question.kind === 'records') asked.set('limit', String(question.limit))
  if (question.kind === 'summaries') {
    asked.set('aggregate', question.functions.join())
    asked.set('interval', `${question.interval / 1_000}s`)
    asked.set('limit', '10000')
  }
  return asked
}
