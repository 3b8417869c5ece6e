import { describe, expect, it, test } from 'vitest'
import { hashWith, type View, viewOf } from '../../../web/src/thing/view.ts'

const hash = '#/things/abcdefgh234567ab'

describe('the view in the address', () => {
  test.each<[string, View]>([
    ['a resource', { resourceKey: 'wind/speed & gusts' }],
    ['a range that ends now', { resourceKey: 'depth', shown: { span: 900_000 } }],
    ['a range of the past', { shown: { span: 60_000, to: Date.parse('2026-11-20T14:03:00Z') } }],
    ['all that there is', { shown: { span: 7_000, isAll: true } }],
  ])('comes back with %s', (_, view) => {
    expect(viewOf(hashWith(hash, view))).toEqual(view)
  })

  it('takes the place of the one before', () => {
    expect(hashWith(`${hash}?resource=depth&seconds=60`, { resourceKey: 'speed' })).toBe(
      `${hash}?resource=speed`,
    )
  })

  it('is none where the address says none, or nonsense', () => {
    expect(viewOf(hash)).toEqual({})
    expect(viewOf(`${hash}?resource=&seconds=x&to=y`)).toEqual({})
  })
})
