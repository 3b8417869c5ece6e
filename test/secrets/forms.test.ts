import { describe, expect, it } from 'vitest'
import { createToken } from '../../src/core/token.ts'
import { Evidence } from './evidence.ts'
import { percentEncoded } from './forms.ts'

const token = createToken()
const quoted = (text: string) => `{"token":"${text}"}`

describe('leaks()', () => {
  it.each<[string, string | Buffer]>([
    ['in clear', quoted(token)],
    ['its start', quoted(token.slice(0, 20))],
    ['its end', quoted(token.slice(-20))],
    ['cut off within a word', `x${token.slice(0, 30)}`],
    ['in base64', quoted(Buffer.from(token).toString('base64'))],
    ['in the base64 of a longer text', Buffer.from(`{"a":"${token}"}`).toString('base64')],
    ['in the same, a byte later', Buffer.from(`{"ab":"${token}"}`).toString('base64')],
    ['in the same, two bytes later', Buffer.from(`{"abc":"${token}"}`).toString('base64url')],
    ['in hex', Buffer.from(token).toString('hex')],
    ['in capital hex', Buffer.from(token).toString('hex').toUpperCase()],
    ['its bytes', Buffer.from(token, 'base64url')],
    ['its bytes in hex', Buffer.from(token, 'base64url').toString('hex')],
    ['percent-encoded', percentEncoded(token)],
  ])('finds a token %s', (_, content) => {
    const evidence = new Evidence()
    evidence.addSecret('a token', token)
    evidence.add('told', 'in a log', content)
    const leaks = evidence.leaks()
    expect(leaks[0]).toMatch(/^a token: .*, in a log$/)
    expect(leaks.some(leak => leak.includes(token))).toBe(false)
  })

  it('finds nothing where there is another token', () => {
    const evidence = new Evidence()
    evidence.addSecret('a token', token)
    evidence.add('files', 'in a file', quoted(createToken()))
    expect(evidence.leaks()).toEqual([])
  })

  it('lets an activation code be in files, and nowhere else', () => {
    const code = createToken().slice(0, 34)
    const evidence = new Evidence()
    evidence.addSecret('a code', code, { isKeptInClear: true })
    evidence.add('files', 'in a file', quoted(code))
    expect(evidence.leaks()).toEqual([])
    evidence.add('told', 'in a log', quoted(code))
    expect(evidence.leaks()).not.toEqual([])
  })
})
