/** Of the page's own address, as `location` has it. */
interface PageAddress {
  /** With a colon at its end. */
  readonly protocol: string
  /** Empty for the protocol's own. */
  readonly port: string
}

/** A name or address as it stands in a program: what can be in none is left out, brackets of IPv6 too. */
export function deviceHost(typed: string): string {
  return typed.replace(/[^A-Za-z0-9.:_-]/g, '')
}

/** The origin of the HTTP door under another name of its host. */
export function httpUrlAt({ protocol, port }: PageAddress, host: string): string {
  const name = host.includes(':') ? `[${host}]` : host
  return `${protocol}//${name}${port === '' ? '' : `:${port}`}`
}

/** Whether only programs on the same machine reach it. */
export function isThisMachineAlone(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\./.test(host)
}

const onlyHere = 'The server listens on this machine only. No other device reaches it.'
const serveAll = 'thingwire serve --host 0.0.0.0'

/** What is wrong, and what to do. */
export interface ReachProblem {
  readonly text: string
  /** To be run where the server is. It goes on from the text. */
  readonly command?: string
}

/**
 * Why another device may not reach the server at the address that was put in.
 *
 * @param pageHost where the page itself came from: if that is not this machine, there is a proxy
 * @param isLoopback whether the server listens on loopback alone, as far as it said so
 */
export function reachProblem(host: string, pageHost: string, isLoopback: boolean): ReachProblem | undefined {
  if (isLoopback && isThisMachineAlone(deviceHost(pageHost))) {
    return {
      text: `${onlyHere} Enter its name or address in your network here, and start it with`,
      command: serveAll,
    }
  }
  if (!isThisMachineAlone(host)) return undefined
  return {
    text: `${host} means the same machine. For another device, enter the server’s name or address in your network.`,
  }
}

/** The same of a link to the page, which has the address that the page itself came from. */
export function linkProblem(pageHost: string, isLoopback: boolean): ReachProblem | undefined {
  const host = deviceHost(pageHost)
  if (!isThisMachineAlone(host)) return undefined
  const advice =
    'open this page at the server’s name or address in your network, and create the session there'
  if (!isLoopback) return { text: `${host} means the same machine. For another device, ${advice}.` }
  return {
    text: `${onlyHere} For another device, ${advice}. Start the server for this with`,
    command: serveAll,
  }
}
