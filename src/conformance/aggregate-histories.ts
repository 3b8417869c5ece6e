import type { RecordStore } from '../store/contract.ts'
import { act, History, Random } from './histories.ts'
import type { Suite } from './stage.ts'
import { count } from './writes.ts'

const seed = 20_261_121
const histories = 200
/** So that a store can commit several as one. */
const atOnce = 20

export function aggregateHistories({ test }: Suite): void {
  test('aggregate() gives what the records add up to, after any history of writes and removals', async stage => {
    const { records } = await stage.open()
    for (let first = 0; first < histories; first += atOnce) {
      await Promise.all(count(atOnce).map(each => run(records, seed + first + each)))
    }
  })
}

async function run(records: RecordStore, seed: number): Promise<void> {
  const history = new History(seed)
  const random = new Random(seed)
  for (const action of history.actions()) {
    await act(records, history.thingId, action)
    if (random.below(3) === 0) await history.assertNow(records, random)
  }
  await history.assertNow(records, random)
  await history.assertNow(records, random)
}
