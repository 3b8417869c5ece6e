import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import { originOf } from '../options/load-options.ts'
import { environmentName, flagName, type OptionName, type ServerOptions } from '../options/options.ts'

/** An address to listen on, with the options that set it. */
export interface Endpoint {
  readonly host: string
  readonly hostOption: 'host' | 'tlsHost'
  readonly port: number
  readonly portOption: 'httpPort' | 'mqttPort' | 'lenientPort' | 'httpsPort' | 'mqttsPort'
  /** The source of an option's value, as `originOf` returns it. */
  readonly from: (option: OptionName) => string | undefined
}

/** The endpoint of the listener whose port is set by `portOption`. That option must have a value. */
export function endpointOf(options: ServerOptions, portOption: Endpoint['portOption']): Endpoint {
  const isSecure = portOption === 'httpsPort' || portOption === 'mqttsPort'
  const hostOption = isSecure && options.tlsHost !== undefined ? 'tlsHost' : 'host'
  const [host = options.host, port = 0] = [options[hostOption], options[portOption]]
  return { host, hostOption, port, portOption, from: name => originOf(options, name) }
}

/**
 * Maximum number of connections that wait to be accepted; further connections are dropped without notice to the client. Node's
 * default, 511, is too low for a fleet that reconnects while Node is busy.
 */
export const backlog = 4_096

/** Resolves when the server listens. @throws Error with one line for the operator if it cannot listen */
export async function listen(
  server: Server,
  endpoint: Endpoint,
  log: FastifyBaseLogger,
): Promise<AddressInfo> {
  server.listen({ host: endpoint.host, port: endpoint.port, backlog })
  await once(server, 'listening').catch((cause: unknown) => {
    throw new Error(listenProblem(cause as NodeJS.ErrnoException, endpoint), { cause })
  })
  outliveAcceptErrors(server, log)
  return server.address() as AddressInfo
}

/** Keeps the server alive when the system has no descriptor or memory left for a new connection. */
export function outliveAcceptErrors(server: Server, log: FastifyBaseLogger): void {
  server.on('error', err => log.error({ err }, 'a connection could not be accepted'))
}

/** Milliseconds of silence after which TCP probes a peer. Needed because a client may turn off the keep-alive of MQTT. */
export const probeAfter = 60_000

/** The URL of a listener, such as `mqtt://127.0.0.1:1883`, without a trailing slash. */
export function urlOf(scheme: string, { address, family, port }: AddressInfo): string {
  return `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

/** One line for the operator: why the server cannot listen, and which option to change. */
export function listenProblem({ code, message }: NodeJS.ErrnoException, endpoint: Endpoint): string {
  const { host, hostOption, portOption, from } = endpoint
  const port = `${endpoint.port} (${from(portOption)})`
  if (code === 'EADDRINUSE') {
    return `port ${port} on ${host} is in use: stop the program that uses it, or choose another port with ${typed(portOption)}`
  }
  if (code === 'EACCES') {
    return `port ${port} on ${host} needs more rights: choose port 1024 or higher with ${typed(portOption)}`
  }
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return `${host} (${from(hostOption)}) is not an address of this machine: choose another address with ${typed(hostOption)}`
  }
  return `cannot listen on port ${port} of ${host} (${typed(portOption)}): ${message}`
}

/** The option as a flag and as an environment variable. Its name in a configuration file is left out: `--help` omits it too. */
function typed(option: OptionName): string {
  return `--${flagName(option)} or ${environmentName(option)}`
}
