import { act, History, Random } from '../../../../src/conformance/histories.ts'
import { createCompactingStore } from '../../../../src/store/level/store.ts'
import { openStore } from '../../../../src/store/open-store.ts'
import { eagerPacking } from '../../store-places.ts'
import { dieAtBatch } from '../compaction/die-at-batch.ts'
import type { Life } from './run-histories.ts'

/**
 * A process that goes on with histories, `argv[2]` as JSON, in a store that packs all the time. It says which action it begins
 * and which is done, and dies by kill -9 unless it is done with all before.
 */

const { location, seeds, number, records, dying } = JSON.parse(process.argv[2] ?? '') as Life

const store = await openStore(createCompactingStore({ location }, { ...eagerPacking, records }))
dieAtBatch(dying)
await Promise.all(seeds.map(goOn))
await store.close()

async function goOn(seed: number): Promise<void> {
  const history = new History(seed)
  for (let life = 0; life < number; life++) for (const _ of history.actions());
  const random = new Random(seed + number)
  let done = 0
  for (const action of history.actions()) {
    console.log(`${seed} begins ${done}`)
    await act(store.records, history.thingId, action)
    done++
    console.log(`${seed} has done ${done}`)
    if (random.below(4) === 0) await history.assertNow(store.records, random)
  }
}
