import { startMosquittoPostgres } from '../peers/mosquitto-postgres.ts'
import { startMosquittoSqlite } from '../peers/mosquitto-sqlite.ts'
import { batch, dryBatch, oneValue, valuesPerBatch } from './bodies.ts'
import { type Comparison, most, ratio } from './comparison.ts'
import { diskBytes, syncing } from './disk-contestants.ts'
import { growing } from './growing-contestant.ts'
import { posting, startFastifyPeer, startProductPeer } from './http-contestants.ts'
import { idleConnections, restingMemory, starting } from './idle-contestants.ts'
import { acking, delivering, publishing } from './mqtt-contestants.ts'
import { startAedesSide, startMosquittoSide, startProductSide } from './mqtt-sides.ts'
import { questions, reading } from './reading-contestants.ts'
import {
  keeping,
  relaying,
  startRelayingAedes,
  startRelayingMosquitto,
  startRelayingProduct,
} from './relay-contestants.ts'
import { storing } from './storing-contestants.ts'

const single = { payload: oneValue }
const watched = { ...single, isWatched: true }
const batches = { body: batch, valuesPerWrite: valuesPerBatch }
/** Writes a second. */
const steadyRate = 2_000
/** Of a message on another topic. */
const state = '{"on":true,"power":12.5,"voltage":231}'
const subscribers = 4
/** For each second of a stretch: about what is stored in one. */
const messages = { sqlite: 20_000, postgres: 4_000 }

/** Everything that `npm run bench` measures, and what it is held to: floor, then aim. */
export const comparisons: readonly Comparison[] = [
  {
    name: 'durable QoS 1, 1 value',
    unit: 'values/s',
    isClose: true,
    sides: {
      product: publishing(startProductSide, single),
      'bare Aedes': publishing(startAedesSide, single),
      mosquitto: publishing(startMosquittoSide, single),
    },
    bars: [ratio('product', 'bare Aedes', [0.45, 0.6]), ratio('product', 'mosquitto', [0.7, 1])],
  },
  {
    name: 'durable QoS 1, 1 value, 1 subscriber',
    unit: 'values/s',
    sides: {
      product: publishing(startProductSide, watched),
      'bare Aedes': publishing(startAedesSide, watched),
    },
    bars: [ratio('product', 'bare Aedes', [0.6, 0.8])],
  },
  {
    name: 'durable QoS 1, 100 values',
    unit: 'values/s',
    isClose: true,
    sides: {
      product: publishing(startProductSide, { payload: batch, valuesPerWrite: valuesPerBatch }),
      'dry run': publishing(startProductSide, { payload: dryBatch, valuesPerWrite: valuesPerBatch }),
    },
    bars: [ratio('product', 'dry run', [0.33, 0.5])],
  },
  {
    name: 'durable HTTP, 1 value',
    unit: 'values/s',
    isClose: true,
    sides: {
      product: posting(startProductPeer, { body: oneValue }),
      'bare Fastify': posting(startFastifyPeer, { body: oneValue }),
    },
    bars: [ratio('product', 'bare Fastify', [0.65, 0.8])],
  },
  {
    name: 'durable HTTP, 100 values',
    unit: 'values/s',
    sides: {
      product: posting(startProductPeer, batches),
      'bare Fastify': posting(startFastifyPeer, batches),
    },
    bars: [ratio('product', 'bare Fastify', [0.17, 0.3])],
  },
  ...Object.entries(questions).map(([name, paths]) => ({
    name,
    unit: 'answers/s',
    sides: { product: reading(paths) },
    // `bench:reads` has the peers: here it stands beside other builds of itself.
    bars: [],
  })),
  {
    name: 'stored, QoS 1, 1 value',
    unit: 'values/s',
    sides: {
      product: publishing(startProductSide, single),
      'mosquitto + SQLite': storing(startMosquittoSqlite, { ...single, messages: messages.sqlite }),
      'mosquitto + PostgreSQL': storing(startMosquittoPostgres, { ...single, messages: messages.postgres }),
    },
    bars: [
      ratio('product', 'mosquitto + SQLite', [1.5, 2.5]),
      ratio('product', 'mosquitto + PostgreSQL', [8, 12]),
    ],
  },
  {
    name: 'five million records',
    unit: 'last million / first',
    sides: { product: growing },
    bars: [
      {
        measure: 'product',
        judged: ({ product = Number.NaN }) => product,
        bound: 'at least',
        floor: 0.85,
        aim: 0.95,
      },
    ],
  },
  {
    name: 'QoS 0, 100 publishers, 1 subscriber',
    unit: 'deliveries/s',
    isClose: true,
    sides: {
      product: delivering(startProductSide, oneValue),
      mosquitto: delivering(startMosquittoSide, oneValue),
      'bare Aedes': delivering(startAedesSide, oneValue),
    },
    bars: [ratio('product', 'mosquitto', [0.5, 0.9])],
  },
  {
    name: `relayed messages, QoS 1, ${subscribers} subscribers`,
    unit: 'messages/s',
    isClose: true,
    sides: {
      product: relaying(startRelayingProduct, state, subscribers),
      mosquitto: relaying(startRelayingMosquitto, state, subscribers),
      'bare Aedes': relaying(startRelayingAedes, state, subscribers),
    },
    // For `--before`; the peers show the cost of credentials, rates and topics that are checked.
    bars: [],
  },
  {
    name: 'relayed messages, QoS 1, 1 absent session',
    unit: 'messages/s',
    isClose: true,
    sides: { product: keeping(startRelayingProduct, state) },
    // For `--before`: no peer stores a message before it acks it.
    bars: [],
  },
  {
    name: `ack p99 at ${steadyRate.toLocaleString('en')} writes/s`,
    unit: 'ms',
    sides: {
      product: acking(startProductSide, { ...single, rate: steadyRate }),
      'bare Aedes': acking(startAedesSide, { ...single, rate: steadyRate }),
      fdatasync: syncing,
    },
    bars: [
      {
        measure: 'product / max(6 × bare Aedes, 2 × fdatasync + 1 ms)',
        judged: figures =>
          (figures.product ?? Number.NaN) /
          Math.max(6 * (figures['bare Aedes'] ?? Number.NaN), 2 * (figures.fdatasync ?? Number.NaN) + 1),
        bound: 'at most',
        floor: 1,
        aim: 0.5,
      },
    ],
  },
  {
    name: 'disk, 100 values',
    unit: 'bytes/record',
    sides: { product: diskBytes },
    bars: [most('product', 'bytes', [300, 100])],
  },
  {
    name: 'idle memory',
    unit: 'MB',
    sides: { product: restingMemory },
    bars: [most('product', 'MB', [150, 100])],
  },
  {
    name: 'cold start',
    unit: 's',
    sides: { product: starting },
    bars: [most('product', 's', [2, 1])],
  },
  {
    name: 'idle connection',
    unit: 'bytes',
    sides: { product: idleConnections },
    bars: [most('product', 'bytes', [25_000, 15_000])],
  },
]
