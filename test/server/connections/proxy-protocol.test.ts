import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseProxyHeader } from '../../../src/server/connections/proxy-protocol.ts'

const signature = '0d0a0d0a000d0a515549540a'
/** 192.0.2.7:4711 → 192.0.2.1:1883 */
const addresses4 = 'c0000207c00002011267075b'
const source6 = '20010db8000000000000000000000007'
const addresses6 = `${source6}${source6}1267075b`
const loopback6 = '00000000000000000000000000000001'
const mapped = '00000000000000000000ffffc0000207'

function binary(versionAndCommand: string, familyAndTransport: string, rest = '', length = rest.length / 2) {
  const announced = length.toString(16).padStart(4, '0')
  return Buffer.from(signature + versionAndCommand + familyAndTransport + announced + rest, 'hex')
}

function line(text: string) {
  return Buffer.from(`${text}\r\n`, 'latin1')
}

const longestIPv6 = 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'

const good: readonly (readonly [string, Buffer, string | undefined])[] = [
  ['a line of TCP4', line('PROXY TCP4 192.0.2.7 192.0.2.1 4711 1883'), '192.0.2.7'],
  [
    'a line of TCP4 with the highest numbers',
    line('PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535'),
    '255.255.255.255',
  ],
  ['a line of TCP4 with the lowest numbers', line('PROXY TCP4 0.0.0.0 0.0.0.0 0 0'), '0.0.0.0'],
  ['a line of TCP6', line('PROXY TCP6 2001:db8::7 2001:db8::1 4711 1883'), '2001:db8::7'],
  ['a line of TCP6 in full', line(`PROXY TCP6 ${longestIPv6} ${longestIPv6} 65535 65535`), longestIPv6],
  ['a line of TCP6 with IPv4 in it', line('PROXY TCP6 ::ffff:192.0.2.7 ::1 4711 1883'), '::ffff:192.0.2.7'],
  ['a short line of UNKNOWN', line('PROXY UNKNOWN'), undefined],
  ['the longest line', line(`PROXY UNKNOWN ${longestIPv6} ${longestIPv6} 65535 65535`), undefined],
  ['a line of UNKNOWN with anything in it', line('PROXY UNKNOWN from the moon'), undefined],
  ['version 2 with TCP over IPv4', binary('21', '11', addresses4), '192.0.2.7'],
  ['version 2 with TCP over IPv6', binary('21', '21', addresses6), '2001:db8::7'],
  [
    'version 2 with a loopback address of IPv6',
    binary('21', '21', `${loopback6}${loopback6}00010002`),
    '::1',
  ],
  ['version 2 with IPv4 in IPv6', binary('21', '21', `${mapped}${mapped}12670753`), '::ffff:c000:207'],
  ['version 2 with UDP over IPv4', binary('21', '12', addresses4), undefined],
  ['version 2 with UDP over IPv6', binary('21', '22', addresses6), undefined],
  ['version 2 with a UNIX stream', binary('21', '31', '2f'.repeat(216)), undefined],
  ['version 2 with UNIX datagrams', binary('21', '32', '2f'.repeat(216)), undefined],
  ['version 2 with an unspecified family', binary('21', '00'), undefined],
  ['version 2 with an unspecified family and more', binary('21', '00', 'ff'.repeat(20)), undefined],
  ['version 2 with LOCAL', binary('20', '00'), undefined],
  ['version 2 with LOCAL and addresses', binary('20', '11', addresses4), undefined],
  ['version 2 with LOCAL of a family that is none', binary('20', 'ff', '00'), undefined],
  ['version 2 with a TLV', binary('21', '11', `${addresses4}04000411223344`), '192.0.2.7'],
  ['version 2 with a TLV that is cut off', binary('21', '11', `${addresses4}04ffff`), '192.0.2.7'],
  [
    'version 2 with as many TLVs as may be',
    binary('21', '11', addresses4 + '00'.repeat(4_096 - 28)),
    '192.0.2.7',
  ],
]

const bad: readonly (readonly [string, Buffer])[] = [
  ['a CONNECT', Buffer.from('101000044d5154540402003c000474657374', 'hex')],
  ['a TLS ClientHello', Buffer.from('1603010200010001fc0303', 'hex')],
  ['an HTTP request', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
  ['PROXY in small letters', line('proxy TCP4 192.0.2.7 192.0.2.1 4711 1883')],
  ['no space behind PROXY', line('PROXYTCP4 192.0.2.7 192.0.2.1 4711 1883')],
  ['two spaces', line('PROXY TCP4  192.0.2.7 192.0.2.1 4711 1883')],
  ['a tab for a space', line('PROXY TCP4 192.0.2.7\t192.0.2.1 4711 1883')],
  ['a space at the end', line('PROXY TCP4 192.0.2.7 192.0.2.1 4711 1883 ')],
  ['a line without family', line('PROXY ')],
  ['a line of another family', line('PROXY UDP4 192.0.2.7 192.0.2.1 4711 1883')],
  ['a line of a family that begins as UNKNOWN', line('PROXY UNKNOWNS')],
  ['a line without destination port', line('PROXY TCP4 192.0.2.7 192.0.2.1 4711')],
  ['a line with one port more', line('PROXY TCP4 192.0.2.7 192.0.2.1 4711 1883 1')],
  ['a port over 65535', line('PROXY TCP4 192.0.2.7 192.0.2.1 65536 1883')],
  ['a destination port over 65535', line('PROXY TCP4 192.0.2.7 192.0.2.1 4711 65536')],
  ['a port with a zero in front', line('PROXY TCP4 192.0.2.7 192.0.2.1 04711 1883')],
  ['a negative port', line('PROXY TCP4 192.0.2.7 192.0.2.1 -1 1883')],
  ['a port that is a word', line('PROXY TCP4 192.0.2.7 192.0.2.1 mqtt 1883')],
  ['an IPv6 address in TCP4', line('PROXY TCP4 2001:db8::7 192.0.2.1 4711 1883')],
  ['an IPv4 address in TCP6', line('PROXY TCP6 192.0.2.7 2001:db8::1 4711 1883')],
  ['a number over 255', line('PROXY TCP4 192.0.2.256 192.0.2.1 4711 1883')],
  ['a destination that is no address', line('PROXY TCP4 192.0.2.7 broker 4711 1883')],
  ['an address with a zone', line('PROXY TCP6 fe80::1%eth0 fe80::2 4711 1883')],
  ['LF alone at the end', Buffer.from(`PROXY TCP4 192.0.2.7 192.0.2.1 4711 1883\n${'x'.repeat(80)}\r\n`)],
  ['a line that is a byte too long', line(`PROXY UNKNOWN ${'x'.repeat(107 - 15)}`)],
  ['a line without end', Buffer.from(`PROXY ${'x'.repeat(101)}`)],
  ['version 1 in binary', binary('11', '11', addresses4)],
  ['version 3 in binary', binary('31', '11', addresses4)],
  ['a command that is none', binary('22', '11', addresses4)],
  ['a family that is none', binary('21', '41', addresses4)],
  ['a transport that is none', binary('21', '13', addresses4)],
  ['a transport without family', binary('21', '01', addresses4)],
  ['addresses of IPv4 that are a byte short', binary('21', '11', addresses4, 11)],
  ['addresses of IPv4 where IPv6 is announced', binary('21', '21', addresses4)],
  ['a UNIX path that is a byte short', binary('21', '31', '2f'.repeat(215))],
  ['no addresses', binary('21', '11')],
  ['TLVs a byte longer than they may be', binary('21', '11', addresses4, 4_096 - 15)],
  ['the longest length', binary('20', '00', '', 65_535)],
  [
    'the signature of version 2 with a byte changed',
    Buffer.concat([Buffer.from('0d0a0d0a000d0a515549540b', 'hex'), Buffer.alloc(4)]),
  ],
]

const follows = Buffer.from('101000044d51', 'hex')

describe('parseProxyHeader()', () => {
  it.each(good)('reads %s, and leaves what follows', (_case, header, address) => {
    const read = { length: header.length, address }
    expect(parseProxyHeader(header)).toEqual(read)
    expect(parseProxyHeader(Buffer.concat([header, follows]))).toEqual(read)
  })

  it.each(good)('waits for the rest of %s', (_case, header) => {
    for (let length = 0; length < header.length; length++) {
      expect(parseProxyHeader(header.subarray(0, length))).toBeUndefined()
    }
  })

  it.each(bad)('refuses %s', (_case, bytes) => {
    expect(() => parseProxyHeader(bytes)).toThrow(Error)
  })

  it('reads a header when it is complete, not before, and the same one whatever follows', () => {
    const beginnings = [Buffer.alloc(0), Buffer.from('PROXY '), Buffer.from(signature, 'hex')]
    const bytes = fc.tuple(fc.constantFrom(...beginnings), fc.uint8Array({ maxLength: 200 }))
    fc.assert(
      fc.property(bytes, ([beginning, rest]) => {
        const received = Buffer.concat([beginning, rest])
        const header = outcomeOf(received)
        if (header === 'refused' || header === undefined) return
        expect(header.length).toBeLessThanOrEqual(received.length)
        // The same whatever follows, and not before it is complete.
        expect(outcomeOf(Buffer.concat([received, follows]))).toEqual(header)
        expect(outcomeOf(received.subarray(0, header.length - 1))).toBeUndefined()
      }),
    )
  })
})

function outcomeOf(bytes: Buffer) {
  try {
    return parseProxyHeader(bytes)
  } catch {
    return 'refused'
  }
}
