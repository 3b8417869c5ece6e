import { startBare, startMosquittoPostgres, startMosquittoSqlite } from '../peers/brokers.ts'
import { startProduct } from '../peers/product.ts'
import { type Comparison, most, ratio } from './comparison.ts'
import {
  acking,
  delivering,
  publishing,
  startAedesSide,
  startMosquittoSide,
  startProductSide,
  storing,
} from './mqtt-contestants.ts'
import {
  diskBytes,
  growing,
  idleConnections,
  posting,
  questions,
  reading,
  restingMemory,
  starting,
  syncing,
} from './product-contestants.ts'
import { sources } from './sources.ts'
import { version5 } from './version5.ts'

const single = { payload: '{"values":[{"key":"temperature","value":21.5}]}', valuesPerWrite: 1 }
const watched = { ...single, subscription: {} }
/** Ten values of each of ten resources. */
const values = Array.from({ length: 100 }, (_, place) => ({
  key: `channel-${place % 10}`,
  value: 20 + place / 10,
}))
const batch = { payload: JSON.stringify({ values }), valuesPerWrite: values.length }
/** The same, to be validated and answered and nothing else. */
const dryBatch = { ...batch, payload: JSON.stringify({ store: false, broadcast: false, values }) }
const startFastify = () => startBare('fastify')
/** Writes a second. */
const steadyRate = 2_000
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
      product: publishing(startProductSide, batch),
      'dry run': publishing(startProductSide, dryBatch),
    },
    bars: [ratio('product', 'dry run', [0.33, 0.5])],
  },
  {
    name: 'durable HTTP, 1 value',
    unit: 'values/s',
    isClose: true,
    sides: {
      product: posting(startProduct, single),
      'bare Fastify': posting(startFastify, single),
    },
    bars: [ratio('product', 'bare Fastify', [0.65, 0.8])],
  },
  {
    name: 'durable HTTP, 100 values',
    unit: 'values/s',
    sides: {
      product: posting(startProduct, batch),
      'bare Fastify': posting(startFastify, batch),
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
      'mosquitto + SQLite': storing(startMosquittoSqlite, single.payload, messages.sqlite),
      'mosquitto + PostgreSQL': storing(startMosquittoPostgres, single.payload, messages.postgres),
    },
    bars: [
      ratio('product', 'mosquitto + SQLite', [1.5, 2.5]),
      ratio('product', 'mosquitto + PostgreSQL', [8, 12]),
    ],
  },
  {
    name: 'five million records',
    unit: 'last million / first',
    sides: { product: growing(batch) },
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
      product: delivering(startProductSide, single.payload),
      mosquitto: delivering(startMosquittoSide, single.payload),
      'bare Aedes': delivering(startAedesSide, single.payload),
    },
    bars: [ratio('product', 'mosquitto', [0.5, 0.9])],
  },
  {
    name: `ack p99 at ${steadyRate.toLocaleString('en')} writes/s`,
    unit: 'ms',
    sides: {
      product: acking(startProductSide, single.payload, steadyRate),
      'bare Aedes': acking(startAedesSide, single.payload, steadyRate),
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
    sides: { product: diskBytes(batch) },
    bars: [most('bytes', [300, 100])],
  },
  {
    name: 'idle memory',
    unit: 'MB',
    before: { side: 'product', floor: 1.02 },
    sides: { product: restingMemory },
    bars: [most('MB', [150, 100])],
  },
  {
    name: 'cold start',
    unit: 's',
    before: { side: 'product', floor: 1.02 },
    sides: { product: starting },
    bars: [most('s', [2, 1])],
  },
  {
    name: 'idle connection',
    unit: 'bytes',
    sides: { product: idleConnections },
    bars: [most('bytes', [25_000, 15_000])],
  },
  ...sources,
  ...version5,
]
