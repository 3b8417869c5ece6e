import { expect, it } from 'vitest'
import { remembered } from '../../../src/access/authorise.ts'

it('remembered() computes a text once, and again when more than its capacity came in between', () => {
  const computed: string[] = []
  const length = remembered(text => {
    computed.push(text)
    return text.length
  }, 2)
  expect(['a', 'bb', 'a', 'bb'].map(length)).toEqual([1, 2, 1, 2])
  expect(computed).toEqual(['a', 'bb'])
  expect(['ccc', 'a'].map(length)).toEqual([3, 1])
  expect(computed).toEqual(['a', 'bb', 'ccc', 'a'])
})
