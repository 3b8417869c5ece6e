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
import { noRateLimits, type ServerProcess, startServer } from '../../test/helpers/server-process.ts'
import { noPacking, packStore } from '../compaction/packed-store.ts'
import { ofThings, startWriting } from '../load/writes.ts'
import { endWithUs } from '../peers/peer.ts'
import { HttpLooks } from './http-looks.ts'
import type { Question } from './questions.ts'
import { key, rowsOf } from './rows.ts'
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

export interface ProductSide extends Side {
  readonly recordsPerWrite: number
  /** On disk before it was packed, as `bytesPerRecord`. */
  readonly bytesPerRecordBefore: number
  /** In which the compactor packed it. */
  readonly secondsToPack: number
  /** @param environment variables on top of its own */
  open(environment?: NodeJS.ProcessEnv): Promise<OpenProduct>
}

export interface OpenProduct extends OpenSide {
  /** Writes a record of the same key in the past. */
  writeLate(datetime: number): Promise<void>
  /** Devices write one value at a time over MQTT. @returns ends it, and gives how it went, in words */
  write(rate: number): Promise<() => Promise<string>>
  /** As `ask`, what a chart needs that is so many pixels wide. Times are milliseconds, `to` is exclusive. */
  chart(from: number, to: number, points: number): Promise<number>
}

interface Kept {
  readonly dataDir: string
  readonly adminKey: string
  readonly thing: Thing
  readonly writers: readonly Thing[]
}

const writers = 20
const writing = { payload: '{"values":[{"key":"n","value":21.5}]}', rest: 2, window: 1_000 }

/** The embedded store behind the ready server, asked over HTTP. */
export async function makeProductSide(
  shape: Shape,
  parent: string,
  records: number,
  onProgress: (done: number) => void,
): Promise<ProductSide> {
  const begin = performance.now()
  const kept = await fill(shape, parent, records, onProgress)
  const secondsToFill = (performance.now() - begin) / 1_000
  const location = storeLocation(kept.dataDir)
  const bytesPerRecordBefore = (await bytesOfStore(location)) / records
  const secondsToPack = await packStore(location)
  return {
    name: shape.name,
    recordsPerWrite: shape.recordsPerWrite,
    secondsToFill,
    bytesPerRecord: (await bytesOfStore(location)) / records,
    bytesPerRecordBefore,
    secondsToPack,
    open: async environment => open(await start(kept, environment), kept),
    remove: () => rm(kept.dataDir, { recursive: true }),
  }
}

/** As doors do, but without a sync: it would be the disk that is measured. Nothing is packed yet. */
async function fill(
  { recordsPerWrite, inFlight }: Shape,
  parent: string,
  records: number,
  onProgress: (done: number) => void,
): Promise<Kept> {
  const dataDir = await mkdtemp(join(parent, 'product-'))
  const location = storeLocation(dataDir)
  const adminKey = randomBytes(32).toString('hex')
  const service = await openThings({ store: createLevelStore({ location }), adminKey })
  const thing = await service.registry.create({})
  const others: Thing[] = []
  while (others.length < writers) others.push(await service.registry.create({}))
  await service.close()

  const store = await openStore(createCompactingStore({ location, durability: 'written' }, noPacking))
  const rows = rowsOf(records)
  let written = 0
  const sender = async () => {
    for (let batch = nextBatch(rows, recordsPerWrite); batch.length > 0; ) {
      const { thingId } = thing
      await store.records.append({ thingId, records: batch, store: true, broadcast: true, answer: {} })
      written += batch.length
      onProgress(written)
      batch = nextBatch(rows, recordsPerWrite)
    }
  }
  await Promise.all(Array.from({ length: inFlight }, sender))
  await store.close()
  return { dataDir, adminKey, thing, writers: others }
}

function nextBatch(rows: ReturnType<typeof rowsOf>, size: number): NewRecord[] {
  const batch: NewRecord[] = []
  while (batch.length < size) {
    const row = rows.next().value
    if (row === undefined) break
    const { datetime, value } = row
    batch.push({ key, datetime, value: JSON.stringify(value), place: batch.length, explicit: true })
  }
  return batch
}

async function start({ dataDir, adminKey }: Kept, own: NodeJS.ProcessEnv = {}): Promise<ServerProcess> {
  const environment = { ...noRateLimits, THINGWIRE_ADMIN_KEY: adminKey, ...own }
  const server = await startServer({ dataDir, environment })
  endWithUs(server.process)
  return server
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
    numbers,
    write: async rate => {
      const tokens = writers.map(({ thingToken }) => thingToken)
      const { stop } = await startWriting({ ...ofThings(server.mqttUrl, tokens), ...writing, rate })
      return async () => {
        const { done, seconds, latency } = await stop()
        const [p50, p99] = [latency?.p50, latency?.p99].map(time => ((time ?? Number.NaN) / 1_000).toFixed(1))
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

function numbers(question: Question, answer: string): number[][] {
  if (question.kind === 'csv')
    return answer
      .trimEnd()
      .split('\r\n')
      .slice(1)
      .map(line => {
        const [datetime = '', value] = line.split(',')
        return [Date.parse(datetime), Number(value)]
      })
  const names = question.kind === 'records' ? ['value'] : question.functions
  const objects = JSON.parse(answer) as Record<string, string | number>[]
  return objects.map(object => [
    Date.parse(String(object.datetime)),
    ...names.map(name => Number(object[name])),
  ])
}
