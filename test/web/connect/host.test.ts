import { describe, expect, it } from 'vitest'
import {
  deviceHost,
  httpUrlAt,
  isThisMachineAlone,
  linkProblem,
  reachProblem,
} from '../../../web/src/thing/connect/host.ts'

describe('deviceHost()', () => {
  it.each([
    ['broker.example.org', 'broker.example.org'],
    ['[fe80::1]', 'fe80::1'],
    [`a"; rm -rf '$x`, 'arm-rfx'],
  ])('makes of %s what can stand in any program', (typed, host) => {
    expect(deviceHost(typed)).toBe(host)
  })
})

describe('httpUrlAt()', () => {
  it.each([
    [{ protocol: 'http:', port: '8080' }, 'board.lan', 'http://board.lan:8080'],
    [{ protocol: 'https:', port: '' }, 'board.lan', 'https://board.lan'],
    [{ protocol: 'http:', port: '8080' }, '::1', 'http://[::1]:8080'],
  ])('puts %o at %s', (location, host, url) => {
    expect(httpUrlAt(location, host)).toBe(url)
  })
})

describe('isThisMachineAlone()', () => {
  it.each(['localhost', '127.0.0.1', '127.1.2.3', '::1'])('is true of %s', host => {
    expect(isThisMachineAlone(host)).toBe(true)
  })

  it.each(['192.168.1.20', 'board.lan', 'fe80::1'])('is false of %s', host => {
    expect(isThisMachineAlone(host)).toBe(false)
  })
})

describe('reachProblem()', () => {
  const onlyHere = expect.objectContaining({ command: 'thingwire serve --host 0.0.0.0' })

  it.each([
    ['192.168.1.20', '127.0.0.1', true, onlyHere],
    ['localhost', 'localhost', true, onlyHere],
    ['localhost', 'localhost', false, { text: expect.stringContaining('localhost means the same machine') }],
    ['192.168.1.20', 'localhost', false, undefined],
    // Behind a proxy.
    ['board.example', 'board.example', true, undefined],
  ])('of %s, for a page from %s, loopback %s', (host, pageHost, isLoopback, problem) => {
    expect(reachProblem(host, pageHost, isLoopback)).toEqual(problem)
  })
})

describe('linkProblem()', () => {
  it.each([
    ['127.0.0.1', true, { text: expect.stringContaining('No other device'), command: expect.any(String) }],
    ['localhost', false, { text: expect.stringContaining('localhost means the same machine') }],
    ['[::1]', false, { text: expect.stringContaining('::1 means the same machine') }],
    ['192.168.1.20', false, undefined],
    // Behind a proxy.
    ['board.example', true, undefined],
  ])('of a page from %s, loopback %s', (pageHost, isLoopback, problem) => {
    expect(linkProblem(pageHost, isLoopback)).toEqual(problem)
  })
})
