import { writeMqtt } from '../load/mqtt-writers.ts'
import { bytesWritten } from '../peers/processes.ts'
import { startProduct } from '../peers/product.ts'
import { batch, valuesPerBatch } from './bodies.ts'
import type { Contestant, Session } from './comparison.ts'
import { timeSyncs } from './machine.ts'
import { ofOneThing } from './mqtt-contestants.ts'
import { tokenOf } from './mqtt-sides.ts'
import { settled, watch } from './usage.ts'

/** Times the usual stretch, so that the store merges what is new into what it holds. */
const stretches = 4

/** Bytes that the product causes to be written to disk for each record, until it is idle again. */
export async function diskBytes(session: Session): Promise<Contestant> {
  const product = await startProduct(session)
  const writes = {
    ...ofOneThing(session, product.port),
    username: tokenOf(session.filled, 0),
    payload: batch,
  }
  return {
    turn: async () => {
      await settled(product)
      const before = bytesWritten(product.processId)
      const length = { warmUp: 0, measured: session.seconds * stretches }
      const { result, cores } = await watch(product, marks => writeMqtt(writes, length, marks))
      await settled(product)
      const bytes = bytesWritten(product.processId) - before
      const records = result.total * valuesPerBatch
      return { figure: bytes / records, cores, note: `${(records / 1e6).toFixed(1)} million records` }
    },
    stop: () => product.stop(),
  }
}

/** 99th percentile of one fdatasync, milliseconds, while nothing else is done. */
export async function syncing({ directory, seconds }: Session): Promise<Contestant> {
  return {
    turn: async () => ({ figure: (await timeSyncs(directory, seconds)).p99, cores: {} }),
    stop: async () => {},
  }
}
