import { expect, test } from 'vitest'
import { toTexts } from '../../src/store/document-texts.ts'

test('toTexts() gives JSON, and null for what is to be removed', () => {
  expect(toTexts({ a: { is: 1 }, b: null })).toEqual([
    ['a', '{"is":1}'],
    ['b', null],
  ])
  expect(toTexts()).toEqual([])
})
