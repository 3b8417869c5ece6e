import { describe, expect, it } from 'vitest'
import { type Copies, difference, SentWrites, shown } from './views.ts'

/** Writes a, b, c: each is sent when the one before is acknowledged. */
function inTurn(copies: Copies = 'once'): SentWrites {
  let time = 0
  const writes = new SentWrites(() => time++)
  for (const value of ['a', 'b', 'c']) {
    writes.send(value, copies)
    writes.acked(value)
  }
  return writes
}

describe('SentWrites', () => {
  it('finds nothing wrong with each write once, in order', () => {
    expect(inTurn().check(['a', 'b', 'c'])).toEqual([])
  })

  it.each<[Copies, string[], string[]]>([
    ['once', ['a', 'a', 'b', 'c'], ['a is stored 2 times, expected once']],
    ['once', ['a', 'c'], ['b is stored 0 times, expected once']],
    ['at most once', ['a', 'c'], []],
    ['at most once', ['a', 'b', 'b', 'c'], ['b is stored 2 times, expected at most once']],
    ['at least once', ['a', 'b', 'b', 'c'], []],
    ['at least once', ['a', 'c'], ['b is stored 0 times, expected at least once']],
    ['never', ['c'], ['c is stored 1 times, expected never']],
  ])('counts the copies of a write that is to be stored %s', (copies, stored, wrong) => {
    const writes = inTurn(copies)
    expect(writes.check(stored)).toEqual(wrong)
  })

  it('finds a copy that is stored behind a write that was sent when it was acknowledged', () => {
    expect(inTurn('at least once').check(['a', 'b', 'a', 'c'])).toEqual([
      'a is stored behind b, which was sent when a was acknowledged',
    ])
  })

  it('finds that the latest is not the last acknowledged', () => {
    expect(inTurn().check(['a', 'c', 'b'])).toEqual([
      'b is stored behind c, which was sent when b was acknowledged',
      'b is stored behind c, which client sent later',
      'latest is b, the last acknowledged is c',
    ])
  })

  it('finds that writes under way at the same time are not in the order of their client', () => {
    const writes = new SentWrites()
    for (const value of ['a', 'b']) writes.send(value, 'once')
    expect(writes.check(['b', 'a'])).toEqual(['a is stored behind b, which client sent later'])
  })

  it('takes writes under way at the same time in the order in which they were sent again', () => {
    const writes = new SentWrites()
    for (const value of ['a', 'b']) writes.send(value, 'at least once')
    expect(writes.check(['a', 'b', 'a', 'b'])).toEqual([])
  })

  it('takes writes of several writers at the same time in any order', () => {
    const writes = new SentWrites()
    for (const value of ['a', 'b']) writes.send(value, 'once', value)
    expect(writes.check(['b', 'a'])).toEqual([])
  })

  it('finds what nobody has sent', () => {
    expect(inTurn().check(['a', 'x'])).toEqual(['stored but never sent: x'])
  })
})

const letters = [...'abcdefghijklmnopqrstuvwxyz']

it('difference() finds none between lists that are the same', () => {
  expect(difference(['stored', letters], ['delivered', letters])).toEqual([])
})

it('difference() shows where lists begin to differ', () => {
  const delivered = letters.toSpliced(20, 2, 'v', 'u')
  expect(difference(['stored', letters], ['delivered', delivered])).toEqual([
    'behind 18: stored s t u v w x y z, delivered s t v u w x y z',
  ])
})

it('difference() names the last of both where those differ', () => {
  expect(difference(['stored', ['a', 'b']], ['delivered', ['a']])).toEqual([
    'behind 0: stored a b, delivered a; the last are b and a',
  ])
})

it('shown() leaves out the beginning of a long list', () => {
  expect(shown(letters)).toBe('… o p q r s t u v w x y z')
})
