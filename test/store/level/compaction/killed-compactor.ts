import { key, measured, measuredAt, thing, write } from '../../../../src/conformance/writes.ts'
import { createCompactingStore } from '../../../../src/store/level/store.ts'
import { openStore } from '../../../../src/store/open-store.ts'
import { eagerPacking } from '../../store-places.ts'
import { type Death, dieAtBatch } from './die-at-batch.ts'

/**
 * A process that writes to a store in `argv[2]`, beginning with the value `argv[5]`, says what it does and when it is done, and dies by kill -9
 * `argv[3]` (`before`, `while` or `behind`) the batch number `argv[4]` of the compactor.
 */

const [, , location = '', point = '', batches = '1', first = '0'] = process.argv
dieAtBatch({ death: point as Death, number: Number(batches), isOfCompactor: true })

const store = await openStore(createCompactingStore({ location }, { ...eagerPacking, records: 64 }))
for (let value = Number(first); ; value++) {
  // Some come to stand in what is packed.
  const isLate = value % 10 === 9
  await told('append', value, () =>
    store.records.append(write([measured(measuredAt + (isLate ? 500 * value + 250 : 1_000 * value), value)])),
  )
  const old = value - 60
  if (value % 89 !== 88 || old % 10 === 9) continue
  const from = measuredAt + 1_000 * old
  await told('remove', old, () => store.records.remove(thing, key, { from, to: from + 1 }))
}

async function told(what: string, value: number, task: () => Promise<unknown>): Promise<void> {
  console.log(`${what} ${value}`)
  await task()
  console.log('done')
}
