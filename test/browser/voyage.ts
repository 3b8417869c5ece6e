import { readVoyage, type VoyageRecord } from '../../src/cli/demo/voyage.ts'
import { type ServerAddress, type Thing, write } from '../helpers/http-client.ts'

/** A body of them is well below `bodyLimit`. */
const recordsPerWrite = 5_000

/** Stores the whole voyage of examples/voyage, as if it had ended now. @returns its records, in order */
export async function storeVoyage(server: ServerAddress, thing: Thing): Promise<readonly VoyageRecord[]> {
  const records = (await readVoyage(new Date())).flatMap(row => row.records)
  for (let begin = 0; begin < records.length; begin += recordsPerWrite) {
    const values = records.slice(begin, begin + recordsPerWrite)
    const { status } = await write(server, thing, { values })
    if (status !== 201) throw new Error(`the voyage was not stored: ${status}`)
  }
  return records
}
