import { ClassicLevel } from 'classic-level'
import { storeLocation } from '../../src/server/keeping/choose-store.ts'

/** Names of the documents that begin so, in a data directory that no server holds. */
export async function keptDocuments(dataDir: string, prefix: string): Promise<string[]> {
  const level = new ClassicLevel(storeLocation(dataDir))
  const keys = await level.keys({ gte: `o${prefix}`, lt: `o${prefix}\xff` }).all()
  await level.close()
  return keys.map(key => key.slice(1))
}
