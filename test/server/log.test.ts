import { describe, expect, it } from 'vitest'
import { createThingId, createToken } from '../../src/core/token.ts'
import { ThingwireError } from '../../src/errors.ts'
import { errorSummary, redactPath, redactText } from '../../src/server/log.ts'

describe('redactPath()', () => {
  const token = createToken()
  const id = createThingId()

  it('keeps thing ids and keys', () => {
    expect(redactPath(`/v2/things/${id}/resources/temperature`)).toBe(
      `/v2/things/${id}/resources/temperature`,
    )
  })

  it.each([
    ['a token', token],
    ['a token in percent-encoding', [...token].map(c => `%${c.charCodeAt(0).toString(16)}`).join('')],
    ['a token with other characters around it', `"${token}"`],
    ['an activation code', token.slice(0, 34)],
  ])('leaves out a segment with %s', (_case, segment) => {
    expect(redactPath(`/v2/things/${segment}/resources`)).toBe('/v2/things/[redacted]/resources')
  })

  it('leaves out the query', () => {
    expect(redactPath(`/v2/utils/date?thingToken=${token}&session=short`)).toBe('/v2/utils/date')
  })
})

describe('redactText()', () => {
  it('leaves out whatever is as long as a secret', () => {
    const token = createToken()
    expect(redactText(`'/v2/things/${token}/%zz' is not a valid url component`)).not.toContain(
      token.slice(0, 8),
    )
  })
})

describe('errorSummary()', () => {
  it('leaves out what an error carries beyond code, reason and text', () => {
    const token = createToken()
    const cause = Object.assign(new Error(`Parse Error at ${token}`), {
      code: 'HPE',
      rawPacket: Buffer.from(token),
    })
    const summary = errorSummary(new Error('outer', { cause }))
    expect(summary).toMatchObject({
      message: 'outer',
      cause: { code: 'HPE', message: 'Parse Error at [redacted]' },
    })
    expect(JSON.stringify(summary)).not.toContain('rawPacket')
    expect(JSON.stringify(summary)).not.toContain(token)
  })

  it('has a stack, but for what is told many times while the store is away', () => {
    expect(errorSummary(new Error('defect'))).toHaveProperty('stack')
    const cause = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
    expect(errorSummary(new ThingwireError('store_unavailable', undefined, { cause }))).toEqual({
      type: 'ThingwireError',
      reason: 'store_unavailable',
      message: 'The store cannot be reached or has failed.',
      cause: { type: 'Error', code: 'ECONNREFUSED', message: 'connect ECONNREFUSED' },
    })
  })
})
