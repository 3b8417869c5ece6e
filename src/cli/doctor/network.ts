import { lookup } from 'node:dns/promises'
import { isIP, type Socket, connect as tcpConnect } from 'node:net'
import { type TLSSocket, connect as tlsConnect } from 'node:tls'
import { networkFault } from '../client/client.ts'
import { type Finding, fault, ok } from './finding.ts'

interface Endpoint {
  /** How findings name the endpoint: `HTTP` or `MQTT`. */
  readonly door: string
  readonly host: string
  readonly port: number
  readonly isTls: boolean
}

/** Maximum duration of one step, milliseconds. */
export const stepTimeout = 5_000
const certificateWarning = 14 * 86_400_000

export function endpointOf(door: string, url: URL, defaultPort: number): Endpoint {
  const isTls = url.protocol === 'https:' || url.protocol === 'mqtts:'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  return { door, host, port: url.port === '' ? defaultPort : Number(url.port), isTls }
}

/** Checks whether a host name can be resolved. If `host` is an IP address, there are no findings. */
export async function checkName(host: string): Promise<Finding[]> {
  if (isIP(host) !== 0) return []
  try {
    const addresses = await lookup(host, { all: true })
    return [ok('name', `${host} is ${addresses.map(({ address }) => address).join(', ')}`)]
  } catch (error) {
    const advice = 'is the name right, and can this network resolve it? Try its IP address'
    return [fault('name', `${host} cannot be resolved: ${codeOf(error)}`, advice)]
  }
}

/** Connects to the endpoint, with TLS if `isTls` is set. The socket is absent if no connection could be made. */
export async function checkConnection(endpoint: Endpoint): Promise<{ findings: Finding[]; socket?: Socket }> {
  const { door, host, port, isTls } = endpoint
  const socket = tcpConnect({ host, port })
  const failed = await opened(socket, 'connect')
  if (failed !== undefined) return { findings: [connectFault(endpoint, failed)] }
  const findings = [ok(`${door} port`, `${host}:${port} accepts connections`)]
  if (!isTls) return { findings, socket }
  const secure = tlsConnect({
    socket,
    rejectUnauthorized: false,
    ...(isIP(host) === 0 ? { servername: host } : {}),
  })
  const refused = await opened(secure, 'secureConnect')
  if (refused !== undefined) {
    const advice = 'is this a TLS port (httpsPort, mqttsPort)? The other ports have no TLS'
    return { findings: [...findings, fault(`${door} TLS`, `no TLS: ${refused}`, advice)] }
  }
  return { findings: [...findings, certificateFinding(endpoint, secure)], socket: secure }
}

function certificateFinding({ door, host }: Endpoint, socket: TLSSocket): Finding {
  const check = `${door} TLS`
  const { valid_to: end = '', subject } = socket.getPeerCertificate()
  if (!socket.authorized) {
    const reason = String(socket.authorizationError)
    const advice =
      'devices also refuse it: get a certificate for this name from a known authority, or give this one to each device (docs/use/tls.md); for this command set NODE_EXTRA_CA_CERTS'
    return fault(check, `the certificate of ${subject?.CN ?? host} is not trusted: ${reason}`, advice)
  }
  if (Date.parse(end) - Date.now() < certificateWarning) {
    return fault(
      check,
      `the certificate expires ${end}`,
      'renew the certificate: the server reads the new file by itself',
    )
  }
  return ok(check, `the certificate is valid until ${end}`)
}

/** Waits until a socket is open. @returns why it could not be opened; undefined if it is open */
async function opened(socket: Socket, event: 'connect' | 'secureConnect'): Promise<string | undefined> {
  return await new Promise(resolve => {
    const timer = setTimeout(() => end('ETIMEDOUT'), stepTimeout)
    const end = (failed?: string) => {
      clearTimeout(timer)
      if (failed !== undefined) socket.destroy()
      resolve(failed)
    }
    socket.once(event, () => end())
    socket.on('error', error => end(codeOf(error)))
    socket.once('close', () => end('the connection was closed'))
  })
}

function connectFault({ door, host, port }: Endpoint, code: string): Finding {
  const refused =
    'no program listens there: is the server running, with this port? If it runs on another machine, does it listen on an address of the network (--host 0.0.0.0)?'
  const silent = 'check the address, the route and the firewall: try from the network of the server'
  const advice = code === 'ECONNREFUSED' ? refused : silent
  return fault(`${door} port`, `${host}:${port} cannot be reached: ${code}`, advice)
}

function codeOf(error: unknown): string {
  const { text, code } = networkFault(error)
  return code || text
}
