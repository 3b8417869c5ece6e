import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { formatDatetime } from '../../src/core/record/datetime.ts'
import { write } from '../../test/helpers/http-client.ts'
import { connectAccepted, type MqttClient } from '../../test/helpers/mqtt-client.ts'
import { type Phases, runWrites } from '../load/writes.ts'
import { get, post } from '../load/wrk.ts'
import { host, type Peer } from '../peers/peer.ts'
import { bytesWritten, residentMemory } from '../peers/processes.ts'
import { copyStore, fillStore, type Product, startProduct, startProductOn } from '../peers/product.ts'
import type { Session, StartContestant, Turn } from './comparison.ts'
import { loaded, settled, watch } from './loaded.ts'
import { ofOneThing, phases, tokenOf } from './mqtt-contestants.ts'
import { timeSyncs } from './report.ts'

/** A write of so many values, without datetimes, so that no write is a resend of another. */
export interface Body {
  readonly payload: string
  readonly valuesPerWrite: number
}

/** As many as it takes to give either side about all that it can do: with 64 the product waits for the load a sixth of the time. */
const postConnections = 128

/** Values a second that are answered with 201. */
export function posting(
  start: (session: Session) => Promise<Peer>,
  { payload: body, valuesPerWrite }: Body,
): StartContestant {
  return loaded(
    async session => ({ peer: await start(session) }),
    ({ peer }, session) => {
      const url = `http://${host}:${peer.httpPort}/v2/things/${tokenOf(session, 0)}`
      const posts = { url, connections: postConnections, body }
      return {
        load: marks => post(posts, phases(session), marks),
        figure: ({ done, seconds }) => ({ figure: (done * valuesPerWrite) / seconds }),
      }
    },
  )
}

/** A key that is read, of a thing that has no other records. */
const read = { key: 'depth', begin: Date.UTC(2026, 0, 1), records: 30_000, place: 50, perWrite: 100 }
const second = 1_000
const minute = 60 * second
const minutes = 500
/** Has no divisor in common with the span, so that neighbours in turn are far from each other. */
const stride = 7_919 * second
/** The server does most of the work: so few keep it busy. */
const readConnections = 16

/** What is asked of a key with a record a second, by name: the query strings, in turn. */
export const questions: Readonly<Record<string, readonly string[]>> = {
  'read of the latest record': [''],
  'read of 100 records': ['?limit=100'],
  'read of 1,000 records': ['?limit=1000'],
  'read of a minute': minutesWith('&limit=100'),
  'read of a minute, oldest first': minutesWith('&limit=100&order=asc'),
  'read of six averages of a minute': minutesWith('&aggregate=avg&interval=10s'),
}

/** Of minutes here and there. */
function minutesWith(more: string): string[] {
  return Array.from({ length: minutes }, (_, turn) => {
    const from = read.begin + ((turn * stride) % (read.records * second - minute))
    return `?startDate=${formatDatetime(from)}&endDate=${formatDatetime(from + minute)}${more}`
  })
}

/** Answers a second. */
export function reading(queries: readonly string[]): StartContestant {
  const start = async (session: Session) => {
    const peer = await startProduct(session)
    await fill(peer, session)
    // Packed by then.
    await settled(peer)
    return { peer }
  }
  return loaded(start, ({ peer }, session) => {
    const base = `/v2/things/${tokenOf(session, read.place)}/resources/${read.key}`
    const paths = queries.map(query => `${base}${query}`)
    return {
      load: marks =>
        get({ url: peer.server.url, connections: readConnections, paths }, phases(session), marks),
      figure: ({ done, seconds }) => ({ figure: done / seconds }),
    }
  })
}

async function fill({ server }: Product, { filled }: Session): Promise<void> {
  const thing = filled.things[read.place]
  if (!thing) throw new Error('the filled store has too few things')
  for (let first = 0; first < read.records; first += read.perWrite) {
    const values = Array.from({ length: read.perWrite }, (_, index) => {
      const datetime = formatDatetime(read.begin + (first + index) * second)
      return { key: read.key, value: 20 + index / 10, datetime }
    })
    const { status } = await write(server, thing, { values })
    if (status !== 201) throw new Error(`a record to be read was answered with ${status}`)
  }
}

/** Times the usual stretch, so that the store merges new records into its tables. */
const diskStretches = 4

/** Bytes that the product causes to be written to disk for each record, until it is idle again. */
export function diskBytes({ payload, valuesPerWrite }: Body): StartContestant {
  return loaded(
    async session => ({ peer: await startProduct(session) }),
    ({ peer }, session) => {
      const writes = { ...ofOneThing(session, peer.port), username: tokenOf(session, 0), payload }
      const length = { warmUp: 0, measured: session.seconds * diskStretches }
      let before = 0
      return {
        load: async marks => {
          await settled(peer)
          before = bytesWritten(peer.processId)
          return await runWrites(writes, length, marks)
        },
        figure: ({ total = 0 }) => {
          const records = total * valuesPerWrite
          const note = `${(records / 1e6).toFixed(1)} million records`
          return { figure: (bytesWritten(peer.processId) - before) / records, note }
        },
      }
    },
  )
}

/** 99th percentile of one fdatasync, milliseconds, while nothing else is done. */
export const syncing: StartContestant = async ({ directory, seconds }) => ({
  turn: async () => ({ figure: (await timeSyncs(directory, seconds)).p99, cores: {} }),
})

const slices = 5
/** Of the records that the filled store has: a million of two. */
const sliceShare = 0.5
/** Seconds that a slice may take. */
const sliceDeadline = 300

/**
 * A store from empty to five million records: values a second in the last million as a share of those in the first. The warm-up of
 * the process goes before the first.
 */
export function growing(body: Body): StartContestant {
  return async session => ({
    turn: async () => {
      const directory = await mkdtemp(join(session.directory, 'growing-'))
      const filled = await fillStore(directory, 0)
      const product = await startProduct({ ...session, filled, directory })
      try {
        return await grow(product, { ...session, filled }, session.filled.records * sliceShare, body)
      } finally {
        await product.stop()
        await rm(directory, { recursive: true })
      }
    },
  })
}

async function grow(
  product: Product,
  session: Session,
  sliceRecords: number,
  { payload, valuesPerWrite }: Body,
): Promise<Turn> {
  const writes = { ...ofOneThing(session, product.port), username: tokenOf(session, 0), payload }
  let expected = 0
  const grown = async (length: Phases) => {
    const watched = await watch(product, marks => runWrites(writes, length, marks))
    expected += watched.result.total * valuesPerWrite
    return watched
  }
  await grown({ warmUp: 0, measured: session.warmUp })
  const rates: number[] = []
  let cores: Turn['cores'] = {}
  for (let slice = 0; slice < slices; slice++) {
    const acks = sliceRecords / valuesPerWrite
    const watched = await grown({ warmUp: 0, measured: sliceDeadline, acks })
    rates.push((watched.result.done * valuesPerWrite) / watched.result.seconds)
    cores = watched.cores
  }
  const stored = await product.recordsStored()
  if (stored !== expected) throw new Error(`${stored} records are stored, ${expected} were acked`)
  const figure = (rates.at(-1) ?? Number.NaN) / (rates[0] ?? Number.NaN)
  return { figure, cores, note: `${rates.map(Math.round).join(', ')} values/s` }
}

/** Milliseconds for memory to become what it stays at behind a start: eight seconds after it, V8 collects once more. */
const restFromStart = 15_000
/** Milliseconds in which all records of the filled store are packed. */
const compaction = 300_000

/**
 * Resident megabytes of the product on the filled store, before anybody connects, when it does nothing any more. It is the second
 * start on that store: the first one packs what was written, which is done once.
 */
export const restingMemory: StartContestant = async session => ({
  turn: async () => {
    const dataDir = await copyStore(session.filled, session.directory)
    const runOn = async (): Promise<number> => {
      const product = await startProductOn(dataDir, session)
      try {
        await delay(restFromStart)
        await settled(product, compaction)
        return residentMemory(product.processId)
      } finally {
        await product.stop()
      }
    }
    try {
      await runOn()
      return { figure: (await runOn()) / 1e6, cores: {} }
    } finally {
      await rm(dataDir, { recursive: true })
    }
  },
})

/** A turn starts the product on a copy of the filled store of its own. */
export function started(
  figureOf: (product: Product, session: Session) => number | Promise<number>,
  environment: NodeJS.ProcessEnv = {},
): StartContestant {
  return async session => ({
    turn: async () => {
      const product = await startProduct({ ...session, environment })
      try {
        await settled(product)
        return { figure: await figureOf(product, session), cores: {} }
      } finally {
        await product.stop()
      }
    },
  })
}

/** Seconds from the start of the process until its ready line. */
export const starting = started(({ secondsToReady }) => secondsToReady)

const idle = 1_000
/** Connections that are opened at once. */
const atOnce = 50
/** Milliseconds for memory to become what it stays at behind new connections. */
const rest = 3_000

/** Bytes of resident memory that each of 1,000 connections adds that do nothing, with a credential, where 1,000 are open. */
export const idleConnections = started(async ({ server, processId }, session) => {
  const login = { url: server.mqttUrl, username: tokenOf(session, 0) }
  const clients: MqttClient[] = []
  const memoryWith = async (count: number) => {
    while (clients.length < count)
      clients.push(...(await Promise.all(Array.from({ length: atOnce }, () => connectAccepted(login)))))
    await delay(rest)
    return residentMemory(processId)
  }
  // The first ones also pay for what there is once: code, and the room in which new objects are made.
  const before = await memoryWith(idle)
  const growth = (await memoryWith(2 * idle)) - before
  for (const client of clients) await client.destroy()
  return growth / idle
})
