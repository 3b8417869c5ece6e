import { expect, it } from 'vitest'
import { difference, shown } from './difference.ts'

const letters = [...'abcdefghijklmnopqrstuvwxyz']

it('difference() finds none between lists that are the same', () => {
  expect(difference(['stored', letters], ['told', letters])).toEqual([])
})

it('difference() shows where lists begin to differ', () => {
  const told = letters.toSpliced(20, 2, 'v', 'u')
  expect(difference(['stored', letters], ['told', told])).toEqual([
    'behind 18: stored s t u v w x y z, told s t v u w x y z',
  ])
})

it('difference() names the last of both where those differ', () => {
  expect(difference(['stored', ['a', 'b']], ['told', ['a']])).toEqual([
    'behind 0: stored a b, told a; the last are b and a',
  ])
})

it('shown() leaves out the beginning of a long list', () => {
  expect(shown(letters)).toBe('… o p q r s t u v w x y z')
})
