import assert from 'node:assert/strict'
import type { Suite } from './stage.ts'
import { listen } from './views.ts'
import { count, received, write } from './writes.ts'

/** What waits for everything that was called, or committed elsewhere, before it. */
export function inOrder({ test, capabilities }: Suite): void {
  test('catchUp() resolves when listeners were told of what was appended before it', async stage => {
    const { records } = await stage.open()
    assert.equal(await records.catchUp(), 0)
    const told = listen(records)
    for (const round of count(20)) {
      const before = count(5).map(() => records.append(write([received(round)], { store: round % 3 > 0 })))
      const catchingUp = records.catchUp().then(newest => ({ newest, toldThen: told.length }))
      const after = records.append(write([received('after')]))
      const { newest, toldThen } = await catchingUp
      assert.ok(toldThen >= round * 6 + 5, `${toldThen} of ${round * 6 + 5} were told`)
      assert.equal(newest, (await Promise.all(before)).at(-1)?.writeNumber)
      await after
    }
  })

  test('getInOrder() reads a document behind what was called before it, and in front of what was after', async stage => {
    const { records, documents } = await stage.open()
    const seen = count(30).map(round => {
      const calls = [
        () => records.append(write([received(round)], { documents: { mark: { round } } })),
        () => documents.put({ mark: { round } }, 'keep'),
        () =>
          documents.transact(['mark'], () => ({
            put: { mark: { round } },
            result: undefined,
            purpose: 'keep',
          })),
      ]
      void calls[round % 3]?.()
      return documents.getInOrder('mark')
    })
    assert.deepEqual(
      await Promise.all(seen),
      count(30).map(round => ({ round })),
    )
    assert.equal(await documents.getInOrder('none'), undefined)
  })

  if (!capabilities.shared) return

  test('catchUp() resolves when listeners were told of what another node has committed before it', async stage => {
    const [one, other] = [await stage.open(), await stage.open()]
    const told = listen(other.records)
    for (const round of count(20)) {
      const { writeNumber } = await one.records.append(write([received(round)]))
      assert.ok((await other.records.catchUp()) >= writeNumber)
      assert.deepEqual(told.at(-1)?.writeNumber, writeNumber)
    }
  })
}
