import assert from 'node:assert/strict'
import type { Append, Store } from '../store/contract.ts'
import type { Stage, Suite } from './stage.ts'
import { listen, state } from './views.ts'
import { count, key, measured, received, thing, write } from './writes.ts'

const passing = (value: unknown) => write([received(value)], { store: false })

/** Which numbers are given again after a restart: positions of streams, sessions and magic resources are such numbers. */
export function writeNumbers({ test, capabilities }: Suite): void {
  if (!capabilities.durable) return

  const kept: readonly (readonly [name: string, write: Append])[] = [
    ['a record', write([received('kept')])],
    ['a record that is stored already', write([measured(1_000, 1)])],
    ['a state', write([], { states: [state('kept')] })],
    ['nothing but a write id', write([received('passing')], { store: false, id: 'a' })],
  ]
  for (const [name, append] of kept) {
    test(`open() gives no write number again after a commit of ${name}`, async stage => {
      await givesNoneAgain(stage, async ({ records }) => {
        await records.append(write([measured(1_000, 1)]))
        await records.append(passing(0))
        await records.append(append)
      })
    })
  }

  test('open() gives no write number again after a removal that was told', async stage => {
    await givesNoneAgain(stage, async ({ records }) => {
      await records.append(write([measured(1_000, 1)]))
      await records.append(passing(0))
      assert.equal(await records.remove(thing, key, {}), 1)
    })
  })

  const puts: readonly (readonly [name: string, put: (store: Store, numbers: object) => Promise<unknown>])[] =
    [
      ['put', ({ documents }, numbers) => documents.put({ mark: { numbers } }, 'keep')],
      [
        'transact',
        ({ documents }, numbers) =>
          documents.transact([], () => ({ put: { mark: { numbers } }, result: undefined, purpose: 'keep' })),
      ],
      [
        'append',
        ({ records }, numbers) => records.append({ ...passing('last'), documents: { mark: { numbers } } }),
      ],
    ]
  for (const [name, put] of puts) {
    test(`${name}() lets documents name the numbers of writes that were not kept: none is given again`, async stage => {
      await givesNoneAgain(stage, async store => {
        await store.records.append(write([received('kept')]))
        const numbers: number[] = []
        for (const value of count(5)) numbers.push((await store.records.append(passing(value))).writeNumber)
        await put(store, numbers)
      })
    })
  }
}

/** Compares the newest number that was told before the store is opened again with the first after it. */
async function givesNoneAgain(stage: Stage, writeSome: (store: Store) => Promise<void>): Promise<void> {
  const store = await stage.open()
  const told = listen(store.records)
  await writeSome(store)
  const { records } = await stage.reopen()
  const { writeNumber } = await records.append(write([received('after')]))
  const before = told.at(-1)?.writeNumber ?? 0
  assert.ok(writeNumber > before, `write number ${writeNumber} after ${before}`)
}
