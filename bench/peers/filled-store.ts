import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { cp, mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createLevelStore } from '../../src/store/level/index.ts'
import { openThings } from '../../src/things.ts'
import type { Thing } from '../../test/helpers/http-client.ts'
import { fill } from '../store/fill.ts'

const run = promisify(execFile)

/** A data directory of the product, made once, of which each start gets a copy. */
export interface FilledStore {
  readonly dataDir: string
  readonly adminKey: string
  /** The first `thingsWithRecords` share the records. */
  readonly things: readonly Thing[]
  readonly records: number
}

export interface FilledStoreSetup {
  /** Where the data directory is made. */
  readonly parent: string
  /** A multiple of 1,000, or 0. */
  readonly records: number
  readonly onProgress?: (records: number) => void
}

const things = 100
const thingsWithRecords = 10

export async function fillStore({ parent, records, onProgress }: FilledStoreSetup): Promise<FilledStore> {
  const dataDir = await mkdtemp(join(parent, 'filled-'))
  const location = join(dataDir, 'store')
  const adminKey = randomBytes(32).toString('hex')
  const service = await openThings({ store: createLevelStore({ location }), adminKey })
  const made: Thing[] = []
  for (let place = 0; place < things; place++) made.push(await service.registry.create({}))
  await service.close()
  const share = records / thingsWithRecords
  const filledThings = records === 0 ? [] : made.slice(0, thingsWithRecords)
  for (const [place, { thingId }] of filledThings.entries()) {
    await fill({ location, thingId, records: share, slice: share })
    onProgress?.((place + 1) * share)
  }
  return { dataDir, adminKey, things: made, records }
}

/** A copy to be written to, on the disk before it is used: what is written back later is no copy's doing. */
export async function copyStore({ dataDir }: FilledStore, parent: string): Promise<string> {
  const copy = await mkdtemp(join(parent, 'product-'))
  await cp(dataDir, copy, { recursive: true })
  await run('sync', ['-f', copy])
  return copy
}
