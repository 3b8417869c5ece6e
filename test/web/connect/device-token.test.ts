import { describe, expect, it } from 'vitest'
import { forgetThingTokens, keepThingToken, keptThingToken } from '../../../web/src/session/thing-tokens.ts'
import { tokenProblem, typedToken } from '../../../web/src/thing/connect/device-token.ts'

const token = 'kq3vX0cJ8m1bT5n-Zr7wYp2_eLfDsGhAuKoViCxQ9tE'

describe('typedToken()', () => {
  it('takes a token as it was copied, and nothing that could end a string of a program', () => {
    expect(typedToken(` ${token}\n`)).toBe(token)
    expect(typedToken(`a"; rm -rf '$x`)).toBe('arm-rfx')
    expect(typedToken(' ')).toBeUndefined()
  })
})

describe('tokenProblem()', () => {
  it('says what is missing, and nothing of a whole token', () => {
    expect(tokenProblem(undefined)).toContain('YOUR_THING_TOKEN')
    expect(tokenProblem(token.slice(1))).toContain('This one has 42')
    expect(tokenProblem(token)).toBeUndefined()
  })
})

describe('keptThingToken()', () => {
  it('is the token that was kept, until it is put away or somebody signs out', () => {
    keepThingToken('a', token)
    keepThingToken('b', token)
    keepThingToken('b', undefined)
    expect([keptThingToken('a'), keptThingToken('b')]).toEqual([token, undefined])
    forgetThingTokens()
    expect(keptThingToken('a')).toBeUndefined()
  })
})
