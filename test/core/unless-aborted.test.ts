import { expect, it } from 'vitest'
import { unlessAborted } from '../../src/core/unless-aborted.ts'

const never = new Promise<never>(() => {})
const reason = new Error('not wanted any more')

it('unlessAborted() comes to what the promise comes to', async () => {
  const { signal } = new AbortController()
  expect(await unlessAborted(Promise.resolve('done'), signal)).toBe('done')
  await expect(unlessAborted(Promise.reject(reason), signal)).rejects.toBe(reason)
})

it('unlessAborted() rejects with the reason of the signal, aborted before or meanwhile', async () => {
  const aborting = new AbortController()
  const waiting = unlessAborted(never, aborting.signal)
  aborting.abort(reason)
  await expect(waiting).rejects.toBe(reason)
  await expect(unlessAborted(Promise.resolve('done'), aborting.signal)).rejects.toBe(reason)
})

it('unlessAborted() keeps the order of those that wait with a signal and without', async () => {
  const { signal } = new AbortController()
  let go = () => {}
  const waiting = new Promise<void>(resolve => {
    go = resolve
  })
  const order: string[] = []
  const all = [
    unlessAborted(waiting, signal).then(() => order.push('with')),
    unlessAborted(waiting, undefined).then(() => order.push('without')),
    unlessAborted(waiting, signal).then(() => order.push('with')),
  ]
  go()
  await Promise.all(all)
  expect(order).toEqual(['with', 'without', 'with'])
})
