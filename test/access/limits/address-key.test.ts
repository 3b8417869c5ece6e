import { describe, expect, it } from 'vitest'
import { addressKey, isLoopback } from '../../../src/access/limits/address-key.ts'

describe('addressKey()', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:c000:0201', '192.0.2.1'],
    ['0:0:0:0:0:ffff:192.0.2.1', '192.0.2.1'],
  ])('takes %s for the IPv4 address %s', (address, key) => {
    expect(addressKey(address)).toBe(key)
  })

  it.each([
    ['2001:db8:1:2::1', '2001:0DB8:1:2:ffff:ffff:ffff:ffff'],
    ['2001:db8::', '2001:db8:0:0:1::'],
    ['fe80::1%eth0', 'fe80::2%eth1'],
    ['::2', '::3:4'],
    ['64:ff9b::192.0.2.1', '64:ff9b::1'],
  ])('takes %s and %s for one network', (one, other) => {
    expect(addressKey(one)).toBe(addressKey(other))
  })

  it.each([
    ['2001:db8:1:2::1', '2001:db8:1:3::1'],
    ['2001:db8:1:2::1', '2001:db8:12::1'],
    ['::ffff:192.0.2.1', '::ffff:192.0.2.2'],
    ['192.0.2.1', '192.0.2.11'],
  ])('tells %s from %s', (one, other) => {
    expect(addressKey(one)).not.toBe(addressKey(other))
  })
})

describe('isLoopback()', () => {
  it.each(['127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1', '0:0:0:0:0:0:0:1'])(
    'is true of %s',
    address => {
      expect(isLoopback(address)).toBe(true)
    },
  )

  it.each(['192.0.2.1', '::', '::2', '1::1', '::ffff:192.0.2.1', '127.0.0.1.example', '', 'unknown'])(
    'is false of %s',
    address => {
      expect(isLoopback(address)).toBe(false)
    },
  )
})
