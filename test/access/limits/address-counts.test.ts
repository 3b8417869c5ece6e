import { describe, expect, it } from 'vitest'
import { AddressCounts } from '../../../src/access/limits/limits.ts'

describe('AddressCounts', () => {
  it('enter() lets in as many connections of an address as may be open at one time', () => {
    const counts = new AddressCounts(2)
    const leave = counts.enter('192.0.2.1')
    expect(counts.enter('::ffff:192.0.2.1')).toBeDefined()
    expect(counts.enter('192.0.2.1')).toBeUndefined()
    expect(counts.enter('192.0.2.2')).toBeDefined()
    leave?.()
    expect(counts.enter('192.0.2.1')).toBeDefined()
    expect(counts.enter('192.0.2.1')).toBeUndefined()
  })

  it('enter() counts an IPv6 network as one address', () => {
    const counts = new AddressCounts(1)
    expect(counts.enter('2001:db8::1')).toBeDefined()
    expect(counts.enter('2001:db8::2')).toBeUndefined()
    expect(counts.enter('2001:db8:0:1::1')).toBeDefined()
  })

  it.each(['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'])('enter() does not count %s', address => {
    const counts = new AddressCounts(1)
    for (let open = 0; open < 10; open++) expect(counts.enter(address)).toBeDefined()
    expect(counts.size).toBe(0)
  })

  it('enter() remembers no address that has no connection open', () => {
    const counts = new AddressCounts(10)
    const leave = ['192.0.2.1', '192.0.2.1', '2001:db8::1'].map(address => counts.enter(address))
    expect(counts.size).toBe(2)
    for (const each of leave) each?.()
    expect(counts.size).toBe(0)
  })
})
