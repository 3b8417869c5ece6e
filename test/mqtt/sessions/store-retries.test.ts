import { expect, it } from 'vitest'
import { ThingwireError } from '../../../src/errors.ts'
import { StoreRetries } from '../../../src/mqtt/sessions/store-retries.ts'
import { numbers } from '../messages.ts'

/** A store that is away, and tasks that need it. */
function createOutage() {
  const told: unknown[] = []
  const state = { isAway: true, attempts: 0 }
  const retries = new StoreRetries(({ reason }) => void told.push(reason))
  const task = async () => {
    state.attempts++
    if (state.isAway) throw new ThingwireError('store_unavailable')
  }
  return { told, state, retries, run: () => retries.run(task) }
}

it('StoreRetries does everything again when the store works, and tells of each outage once', async () => {
  const { told, state, run } = createOutage()
  for (const outage of [1, 2]) {
    Object.assign(state, { isAway: true, attempts: 0 })
    const running = numbers(100).map(run)
    await expect.poll(() => state.attempts).toBeGreaterThan(102)
    state.isAway = false
    await Promise.all(running)
    expect(told).toHaveLength(outage)
  }
  expect(told).toEqual(['store_unavailable', 'store_unavailable'])
})

it('StoreRetries gives up what still fails when it is closed, and what no store has failed at once', async () => {
  const { state, retries, run } = createOutage()
  const running = [run(), run()]
  const given = Promise.all(
    running.map(each => expect(each).rejects.toMatchObject({ reason: 'store_unavailable' })),
  )
  const defect = new Error('defect')
  await expect(retries.run(() => Promise.reject(defect))).rejects.toBe(defect)
  retries.close()
  await given
  await expect(run()).rejects.toMatchObject({ reason: 'store_unavailable' })
  expect(state.attempts).toBe(5)
})
