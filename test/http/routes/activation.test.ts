import { describe, expect, it } from 'vitest'
import { asAdmin, openHost, reasonOf } from '../host.ts'

describe('POST /v2/things', () => {
  it('registers a thing that can write at once', async () => {
    const { inject } = await openHost()
    const made = await inject({ method: 'POST', url: '/v2/admin/activation-codes', headers: asAdmin })
    const [activationCode] = made.json().activationCodes
    const body = { activationCode, model: { any: 'thing' } }
    const answer = await inject({ method: 'POST', url: '/v2/things', body })
    expect(answer.statusCode).toBe(201)
    const { thingToken, thingId, ...rest } = answer.json()
    expect(rest).toEqual({ status: 'created', message: 'thing activated' })
    expect(Object.keys(answer.json())).toEqual(['status', 'message', 'thingToken', 'thingId'])
    const write = { values: [{ key: 'k', value: 1 }] }
    const written = await inject({ method: 'POST', url: `/v2/things/${thingToken}`, body: write })
    expect(written.statusCode).toBe(201)
    expect(thingId).toMatch(/^[a-z2-7]{16}$/)
    const spent = await inject({ method: 'POST', url: '/v2/things', body })
    expect([spent.statusCode, reasonOf(spent)]).toEqual([401, 'unknown_activation_code'])
  })

  it.each([
    ['{', 'invalid_json'],
    [Buffer.from([0xff]), 'invalid_utf8'],
    ['[]', 'invalid_body'],
    ['{}', 'invalid_body'],
    ['', 'invalid_body'],
    ['{"activationCode":1}', 'invalid_body'],
    ['{"activationCode":"unknown"}', 'unknown_activation_code'],
  ])('refuses the body %s', async (body, reason) => {
    const { inject } = await openHost()
    expect(reasonOf(await inject({ method: 'POST', url: '/v2/things', body }))).toBe(reason)
  })

  it('names the field that is wrong', async () => {
    const { inject } = await openHost()
    const answer = await inject({ method: 'POST', url: '/v2/things', body: {} })
    expect(answer.json().message).toContain('activationCode')
  })
})
