import { describe, expect, it } from 'vitest'
import { readJson } from '../../../src/core/json/read-json.ts'
import { ThingwireError } from '../../../src/errors.ts'

describe('readJson()', () => {
  it('takes a byte order mark in front, and keeps one inside', () => {
    expect(readJson(Buffer.from('\ufeff{"a":"\ufeff"}'))).toEqual({ a: '\ufeff' })
    expect(readJson(Buffer.from('\ufeff 1'))).toBe(1)
    expect(refusal(Buffer.from('\ufeff'))).toMatchObject({
      reason: 'invalid_json',
      message: expect.stringContaining('position 0'),
    })
  })

  it.each([
    ['a byte that begins no character', [0x7b, 0xff], 1, 'FF'],
    ['half a character at the end', [0x22, 0xc3], 1, 'C3'],
    ['half a character', [0x22, 0xe2, 0x82, 0x22], 1, 'E2'],
    ['a byte behind characters of two, three and four bytes', [...Buffer.from('"ä€🌡'), 0xb0], 10, 'B0'],
    ['a byte behind U+FFFD itself', [...Buffer.from('"\ufffd'), 0xfc], 4, 'FC'],
    ['UTF-16, little end first', [0xff, 0xfe, 0x7b, 0], 0, 'FF begins as UTF-16 does'],
    ['UTF-16, big end first', [0xfe, 0xff, 0, 0x7b], 0, 'FE begins as UTF-16 does'],
  ])('names the place of %s', (_what, bytes, position, says) => {
    expect(refusal(Uint8Array.from(bytes))).toMatchObject({
      reason: 'invalid_utf8',
      message: expect.stringContaining(`at position ${position} the byte ${says}`),
    })
  })
})

function refusal(body: Uint8Array): ThingwireError {
  try {
    readJson(body)
  } catch (error) {
    if (error instanceof ThingwireError) return error
    throw error
  }
  throw new Error('it was not refused')
}
