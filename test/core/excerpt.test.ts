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

  it('redacts what is as long as an activation code, and no UUID', () => {
    const uuid = '0b7c6b5e-4c1f-4f0b-9a43-2f1f6c5d7e8a'
    expect(of(`{"activationCode":"${createToken().slice(0, 34)}","id":"${uuid}"}`)).toBe(
      `{"activationCode":"[redacted]","id":"${uuid}"}`,
    )
  })

  it('shows no seven characters of a token, wherever in a body it stands', () => {
    const token = createToken()
    const parts = Array.from({ length: token.length - 6 }, (_, start) => token.slice(start, start + 7))
    const places = [
      ...Array.from({ length: 260 }, (_, offset) => ' '.repeat(offset)),
      ...Array.from({ length: 400 }, (_, more) => `${'x'.repeat(700 + more)} `),
      ...Array.from({ length: 110 }, (_, offset) => `😀€${' '.repeat(offset)}${'ä€😀'.repeat(30)}`),
    ]
    for (const before of places) {
      const shown = of(`${before}${token}" "${token}`)
      expect(shown.length).toBeLessThanOrEqual(200)
      expect(parts.filter(part => shown.includes(part))).toEqual([])
    }
  })
})
