/** The parts of `location` that are used here. */
interface PageAddress {
  /** With a trailing colon. */
  readonly protocol: string
  /** Empty for the default port of the protocol. */
  readonly port: string
}

/** The typed host without characters that a host name or address cannot contain, and without the brackets of IPv6. */
export function deviceHost(typed: string): string {
  return typed.replace(/[^A-Za-z0-9.:_-]/g, '')
}

/** The origin of the HTTP door with another name of its host. */
export function httpUrlAt({ protocol, port }: PageAddress, host: string): string {
  const name = host.includes(':') ? `[${host}]` : host
  return `${protocol}//${name}${port === '' ? '' : `:${port}`}`
}

/** Whether only programs on the same machine can reach this host. */
export function isThisMachineAlone(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\./.test(host)
}

const onlyHere = 'The server listens on this machine only. No other device reaches it.'
const serveAll = 'thingwire serve --host 0.0.0.0'

/** A problem, and how to solve it. */
export interface ReachProblem {
  readonly text: string
  /** A command to run on the machine of the server. Shown after the text. */
  readonly command?: string
}

/**
 * Why another device may not be able to reach the server at `host`.
 *
 * @param pageHost the host of the page's address. If it is not this machine, there is a proxy
 * @param isLoopback whether the server listens only on loopback; false if not known
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

/** Why another device may not be able to open a link to this page. The link contains the page's host. */
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
