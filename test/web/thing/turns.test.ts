import { expect, test } from 'vitest'
import { createTurns } from '../../../web/src/thing/turns.ts'

const { signal } = new AbortController()

test('createTurns() lets as many tasks run at a time as it says, whether they fail or not', async () => {
  const turns = createTurns(2)
  let running = 0
  let most = 0
  const tasks = [0, 1, 2, 3, 4].map(number =>
    turns.take(signal, async () => {
      most = Math.max(most, ++running)
      await new Promise(setImmediate)
      running--
      if (number === 1) throw new Error('this one fails')
    }),
  )
  const results = await Promise.allSettled(tasks)
  expect(results.map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
    'fulfilled',
  ])
  expect(most).toBe(2)
})

test('createTurns() passes over a task that was aborted before its turn', async () => {
  const turns = createTurns(1)
  const abort = new AbortController()
  const first = turns.take(signal, () => new Promise(setImmediate))
  const aborted = turns.take(abort.signal, () => Promise.resolve('never'))
  abort.abort()
  await expect(aborted).rejects.toThrow()
  await first
  await expect(turns.take(signal, () => Promise.resolve('next'))).resolves.toBe('next')
})
