import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'

/** Proxies that may state the address of a client (option `trustedProxies`). */
export class TrustedProxies {
  readonly #networks = new BlockList()
  /** Checked first, because a look-up in a `BlockList` costs more than the rest of accepting a connection. */
  readonly #isEmpty: boolean

  /** @param networks addresses, and networks in CIDR notation */
  constructor(networks: readonly string[] = []) {
    this.#isEmpty = networks.length === 0
    for (const network of networks) {
      const [base = '', length] = network.split('/')
      const family = isIP(base) === 6 ? 'ipv6' : 'ipv4'
      if (length === undefined) this.#networks.addAddress(base, family)
      else this.#networks.addSubnet(base, Number(length), family)
    }
  }

  /** @param address of a socket; may be an IPv4-mapped IPv6 address @returns false also if the text is not an address */
  trusts(address: string | undefined): boolean {
    if (this.#isEmpty || !isAddress(address)) return false
    return this.#networks.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
  }

  /** Whether a request came through a trusted proxy. */
  forwards({ socket }: Pick<IncomingMessage, 'socket'>): boolean {
    return this.trusts(socket.remoteAddress)
  }

  /** The address of the client: the last hop before the trusted proxies. Earlier hops are ignored: a client can forge them. */
  clientOf({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): string {
    let client = socket.remoteAddress ?? ''
    if (!this.trusts(client)) return client
    for (const hop of hopsOf(headers['x-forwarded-for']).reverse()) {
      const address = addressOf(hop)
      // If a proxy does not name its client, the address of the proxy is used.
      if (address === undefined) break
      client = address
      if (!this.trusts(client)) break
    }
    return client
  }
}

function hopsOf(header: string | readonly string[] | undefined): string[] {
  return (typeof header === 'string' ? header : (header ?? []).join(',')).split(',')
}

/** The address without the port that some proxies add, for example `192.0.2.1:4711` or `[2001:db8::1]:4711`. */
function addressOf(hop: string): string | undefined {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\](?::\d+)?|([^:]*):\d+)$/.exec(hop.trim()) ?? []
  const address = bracketed ?? plain ?? hop.trim()
  return isAddress(address) ? address : undefined
}

/** Rejects an address with a zone, such as `fe80::1%eth0`: a zone has no meaning on another machine. */
function isAddress(text: string | undefined): text is string {
  return text !== undefined && isIP(text) !== 0 && !text.includes('%')
}
