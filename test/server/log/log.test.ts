import { describe, expect, it } from 'vitest'
import { Redactor } from '../../../src/core/refusals/redactor.ts'
import { createThingId, createToken } from '../../../src/core/token.ts'
import { ThingwireError } from '../../../src/errors.ts'
import { errorSummary, redactPath } from '../../../src/server/log/log.ts'

const redactor = new Redactor('Tr0ub/4dor&3+Tr0ub/4dor%3=Tr0ub/4')

describe('redactPath()', () => {
  const token = createToken()
  const id = createThingId()

  it('keeps thing ids and keys', () => {
    expect(redactPath(`/v2/things/${id}/resources/temperature`, redactor)).toBe(
      `/v2/things/${id}/resources/temperature`,
    )
  })

  it.each([
    ['a token', token],
    ['a token in percent-encoding', [...token].map(c => `%${c.charCodeAt(0).toString(16)}`).join('')],
    ['two tokens and a word', `${token}-and-${token}`],
    ['an activation code', token.slice(0, 34)],
    ['an admin key with slashes', 'Tr0ub/4dor&3+Tr0ub/4dor%3=Tr0ub/4'],
  ])('leaves out a segment with %s', (_case, segment) => {
    expect(redactPath(`/v2/things/${segment}/resources`, redactor)).toBe('/v2/things/[redacted]/resources')
  })

  it('leaves out a token in a segment, but not what is around it', () => {
    expect(redactPath(`/v2/things/"${token}"`, redactor)).toBe('/v2/things/"[redacted]"')
  })

  it('leaves out the query', () => {
    expect(redactPath(`/v2/utils/date?thingToken=${token}&session=short`, redactor)).toBe('/v2/utils/date')
  })
})

describe('errorSummary()', () => {
  it('leaves out what an error carries beyond code, reason and text', () => {
    const token = createToken()
    const cause = Object.assign(new Error(`Parse Error at ${token}`), {
      code: 'HPE',
      rawPacket: Buffer.from(token),
    })
    const summary = errorSummary(new Error('outer', { cause }), redactor)
    expect(summary).toMatchObject({
      message: 'outer',
      cause: { code: 'HPE', message: 'Parse Error at [redacted]' },
    })
    expect(JSON.stringify(summary)).not.toContain('rawPacket')
    expect(JSON.stringify(summary)).not.toContain(token)
  })

  it('has a stack, but for what is told many times while the store is away', () => {
    expect(errorSummary(new Error('defect'), redactor)).toHaveProperty('stack')
    const cause = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
    const error = new ThingwireError('store_unavailable', undefined, { cause })
    expect(errorSummary(error, redactor)).toEqual({
      type: 'ThingwireError',
      reason: 'store_unavailable',
      message: 'The store cannot be reached or has failed.',
      cause: { type: 'Error', code: 'ECONNREFUSED', message: 'connect ECONNREFUSED' },
    })
  })
})
