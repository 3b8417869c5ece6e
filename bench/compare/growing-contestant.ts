import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Phases } from '../load/load.ts'
import { writeMqtt } from '../load/mqtt-writers.ts'
import { fillStore } from '../peers/filled-store.ts'
import { type Product, startProduct } from '../peers/product.ts'
import { batch, valuesPerBatch } from './bodies.ts'
import type { Contestant, Session, Turn } from './comparison.ts'
import { ofOneThing } from './mqtt-contestants.ts'
import { tokenOf } from './mqtt-sides.ts'
import { watch } from './usage.ts'

const slices = 5
/** Of the records that stores hold elsewhere: a million of two. */
const sliceShare = 0.5

/** Seconds that a slice may take. */
const deadline = 300

/**
 * A store from empty to five million records: values a second in the last million as a share of those in the first.
 * What warms up the process goes before the first.
 */
export async function growing(session: Session): Promise<Contestant> {
  return {
    turn: async () => {
      const directory = await mkdtemp(join(session.directory, 'growing-'))
      const filled = await fillStore({ parent: directory, records: 0 })
      const product = await startProduct({ ...session, filled, directory })
      try {
        return await grow(product, { ...session, filled }, session.filled.records * sliceShare)
      } finally {
        await product.stop()
        await rm(directory, { recursive: true })
      }
    },
    stop: async () => {},
  }
}

async function grow(product: Product, session: Session, sliceRecords: number): Promise<Turn> {
  const writes = {
    ...ofOneThing(session, product.port),
    username: tokenOf(session.filled, 0),
    payload: batch,
  }
  let expected = 0
  const write = async (phases: Phases) => {
    const watched = await watch(product, marks => writeMqtt(writes, phases, marks))
    expected += watched.result.total * valuesPerBatch
    return watched
  }
  await write({ warmUp: 0, measured: session.warmUp })
  const rates: number[] = []
  let cores: Turn['cores'] = {}
  for (let slice = 0; slice < slices; slice++) {
    const watched = await write({ warmUp: 0, measured: deadline, acks: sliceRecords / valuesPerBatch })
    rates.push((watched.result.done * valuesPerBatch) / watched.result.seconds)
    cores = watched.cores
  }
  const stored = await product.recordsStored()
  if (stored !== expected) throw new Error(`${stored} records are stored, ${expected} were acked`)
  const [first = Number.NaN] = rates
  const last = rates.at(-1) ?? Number.NaN
  return { figure: last / first, cores, note: `${rates.map(Math.round).join(', ')} values/s` }
}
