import { BlockList, isIP, isIPv6 } from 'node:net'

const groups = 8
/** The first four groups of an IPv6 address (64 bits) name its network. */
const groupsOfNetwork = 4

/**
 * The key by which a limit counts an address. For IPv4, even if written as `::ffff:192.0.2.1`, the key is the address. For IPv6, it
 * is the first 64 bits, since a client can use every address of its network. For any other text, the key is the text.
 */
export function addressKey(address: string): string {
  if (!isIPv6(address)) return address
  const parts = expand(address)
  const [high = 0, low = 0] = parts.slice(-2)
  if (isMappedIPv4(parts)) return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.')
  const network = parts.slice(0, groupsOfNetwork).map(part => part.toString(16))
  return `${network.join(':')}::/64`
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8)
loopback.addAddress('::1', 'ipv6')

/** Whether an address is a loopback address: in 127.0.0.0/8, even if mapped to IPv6, or `::1`. */
export function isLoopback(address: string): boolean {
  return isIP(address) !== 0 && loopback.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}

function isMappedIPv4(parts: readonly number[]): boolean {
  return parts.slice(0, 5).every(part => part === 0) && parts[5] === 0xffff
}

/** The eight groups of an IPv6 address. */
function expand(address: string): number[] {
  const [withoutZone = ''] = address.split('%')
  const [head = '', tail] = withoutZone.split('::')
  const first = groupsIn(head)
  if (tail === undefined) return first
  const last = groupsIn(tail)
  const between = Array.from({ length: groups - first.length - last.length }, () => 0)
  return [...first, ...between, ...last]
}

function groupsIn(text: string): number[] {
  if (text === '') return []
  return text.split(':').flatMap(part => {
    if (!part.includes('.')) return [Number.parseInt(part, 16)]
    const [a = 0, b = 0, c = 0, d = 0] = part.split('.').map(Number)
    return [(a << 8) | b, (c << 8) | d]
  })
}
