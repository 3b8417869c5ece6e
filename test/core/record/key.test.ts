import { describe, expect, it } from 'vitest'
import { isMagicKey, isOrdinaryKey } from '../../../src/core/record/key.ts'

describe('isOrdinaryKey()', () => {
  it('takes letters, digits, dash and underscore alone, and no other character of the first 256', () => {
    const characters = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code))
    expect(characters.filter(isOrdinaryKey).join('')).toBe(
      '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz',
    )
  })

  it('takes dots, but not one or two of them alone: no URL can name these', () => {
    expect(['...', '.a', 'a.', '..a', '.-', '._.'].filter(isOrdinaryKey)).toHaveLength(6)
    for (const key of ['.', '..']) {
      expect(isOrdinaryKey(key)).toBe(false)
      expect(new URL(encodeURIComponent(key), 'http://host/a/').pathname).not.toContain(key)
    }
  })

  it('takes 1 to 128 characters', () => {
    const lengths = [0, 1, 128, 129]
    expect(lengths.map(length => isOrdinaryKey('k'.repeat(length)))).toEqual([false, true, true, false])
  })
})

describe('isMagicKey()', () => {
  it('goes by the first character alone', () => {
    expect(['$', '$geo', '$ anything'].map(isMagicKey)).toEqual([true, true, true])
    expect(['', 'geo', 'a$b', ' $geo'].map(isMagicKey)).toEqual([false, false, false, false])
  })
})
