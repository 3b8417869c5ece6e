import type { AddressInfo } from 'node:net'

/** `mqtt://127.0.0.1:1883`, without a slash at its end. */
export function urlOf(scheme: string, { address, family, port }: AddressInfo): string {
  return `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

/** One line for the operator: why nothing listens where the options say. */
export function listenProblem(
  { code, message }: NodeJS.ErrnoException,
  host: string,
  option: 'httpPort' | 'mqttPort',
  port: number,
): string {
  if (code === 'EADDRINUSE') return `${option} ${port} on ${host} is in use`
  if (code === 'EACCES') return `${option} ${port} on ${host} needs more rights`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') return `host ${host} is no address of this machine`
  return `cannot listen on ${option} ${port} of ${host}: ${message}`
}
