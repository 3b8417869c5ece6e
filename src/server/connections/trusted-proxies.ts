import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'

/** Load balancers whose word on the address of a client is taken (option `trustedProxies`). */
export class TrustedProxies {
  readonly #networks = new BlockList()
  /** Asked of each connection: to ask the list costs more than all else of it. */
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

  /** @param address as a socket has it, IPv4 in IPv6 too; anything else is not trusted */
  trusts(address: string | undefined): boolean {
    if (this.#isEmpty || !isAddress(address)) return false
    return this.#networks.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
  }

  /** Whether a request came through one of them. */
  forwards({ socket }: Pick<IncomingMessage, 'socket'>): boolean {
    return this.trusts(socket.remoteAddress)
  }

  /** Where a request comes from: the last hop before our proxies. What a hop says that is no proxy of ours, is not heard. */
  clientOf({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): string {
    let client = socket.remoteAddress ?? ''
    if (!this.trusts(client)) return client
    for (const hop of hopsOf(headers['x-forwarded-for']).reverse()) {
      const address = addressOf(hop)
      // A proxy that does not name its client is all that is known of it.
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

/** Some proxies add the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function addressOf(hop: string): string | undefined {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\](?::\d+)?|([^:]*):\d+)$/.exec(hop.trim()) ?? []
  const address = bracketed ?? plain ?? hop.trim()
  return isAddress(address) ? address : undefined
}

/** A zone (`fe80::1%eth0`) means nothing on another machine. */
function isAddress(text: string | undefined): text is string {
  return text !== undefined && isIP(text) !== 0 && !text.includes('%')
}
