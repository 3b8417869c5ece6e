import { describe, expect, it } from 'vitest'
import { listenProblem, urlOf } from '../../src/server/listening.ts'

describe('urlOf()', () => {
  it('puts an IPv6 address into brackets', () => {
    expect(urlOf('mqtt', { address: '::1', family: 'IPv6', port: 1883 })).toBe('mqtt://[::1]:1883')
    expect(urlOf('http', { address: '127.0.0.1', family: 'IPv4', port: 80 })).toBe('http://127.0.0.1:80')
  })
})

describe('listenProblem()', () => {
  it.each([
    ['EADDRINUSE', /mqttPort 1883/],
    ['EACCES', /mqttPort 1883/],
    ['ENOTFOUND', /host nowhere /],
    ['EADDRNOTAVAIL', /host nowhere /],
    ['EOTHER', /mqttPort 1883 .*why/],
  ])('names the option behind %s', (code, line) => {
    const problem = Object.assign(new Error('why'), { code })
    expect(listenProblem(problem, 'nowhere', 'mqttPort', 1883)).toMatch(line)
  })
})
