import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { excerpt } from '../../src/core/excerpt.ts'
import { createToken } from '../../src/core/token.ts'

const of = (text: string) => excerpt(Buffer.from(text))

describe('excerpt()', () => {
  it('is a short body as it is', () => {
    expect(of('{"values":[{"key":"wärme"}]}')).toBe('{"values":[{"key":"wärme"}]}')
    expect(of('')).toBe('')
  })

  it('is the first 200 characters, however many bytes they take', () => {
    expect(of('x y'.repeat(100))).toBe('x y'.repeat(100).slice(0, 200))
    expect(of('€ '.repeat(500))).toBe('€ '.repeat(100))
  })

  it('shows bytes that are not UTF-8 as U+FFFD', () => {
    expect(excerpt(Uint8Array.of(0x7b, 0xff, 0x7d))).toBe('{\ufffd}')
  })

  it('reads a view of bytes, not what lies around it', () => {
    const bytes = Buffer.from('before{}after')
    expect(excerpt(new Uint8Array(bytes.buffer, bytes.byteOffset + 6, 2))).toBe('{}')
  })

  it('redacts a token, and anything that is as long', () => {
    expect(of(`{"token":"${createToken()}","next":"${createToken()}${createToken()}"}`)).toBe(
      '{"token":"[redacted]","next":"[redacted]"}',
    )
  })

  it('shows no seven characters of a token, wherever in a body it stands', () => {
    const filler = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 260 }),
      fc.constantFrom('" "', ' '.repeat(199), `${'x'.repeat(1_000)} `, '😀'.repeat(99), '€ '.repeat(120)),
    )
    const token = createToken()
    fc.assert(
      fc.property(fc.array(filler, { maxLength: 4 }), parts => {
        const shown = of(`${parts.join(' ')} ${token} ${token}`)
        expect(shown.length).toBeLessThanOrEqual(200)
        for (let start = 0; start + 7 <= token.length; start++) {
          expect(shown).not.toContain(token.slice(start, start + 7))
        }
      }),
    )
  })
})
