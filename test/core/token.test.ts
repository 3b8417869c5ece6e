import { describe, expect, it } from 'vitest'
import { createThingId, createToken, hashToken, isThingId, isToken } from '../../src/core/token.ts'

describe('createToken()', () => {
  it('is 43 characters of base64url, each time others', () => {
    const tokens = Array.from({ length: 100 }, createToken)
    expect(tokens.every(isToken)).toBe(true)
    expect(new Set(tokens).size).toBe(100)
  })

  it('never begins like an option of a command', () => {
    expect(Array.from({ length: 2_000 }, createToken).filter(token => token.startsWith('-'))).toEqual([])
  })
})

describe('isToken()', () => {
  it('goes by length and alphabet', () => {
    expect(isToken('A'.repeat(43))).toBe(true)
    for (const text of ['', 'A'.repeat(42), 'A'.repeat(44), `${'A'.repeat(42)}+`, `${'A'.repeat(43)}\n`]) {
      expect(isToken(text)).toBe(false)
    }
  })
})

describe('hashToken()', () => {
  it('is the SHA-256 in base64url', () => {
    expect(hashToken('abc')).toBe('ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0')
  })
})

describe('createThingId()', () => {
  it('is 16 characters of a-z2-7, each time others', () => {
    const ids = Array.from({ length: 100 }, createThingId)
    expect(ids.every(isThingId)).toBe(true)
    expect(new Set(ids).size).toBe(100)
  })
})

describe('isThingId()', () => {
  it('goes by length and alphabet, and takes no token', () => {
    expect(isThingId('abcdefghij234567')).toBe(true)
    for (const text of ['', 'abcdefghij23456', 'abcdefghij2345678', 'ABCDEFGHIJ234567', createToken()]) {
      expect(isThingId(text)).toBe(false)
    }
  })
})
