import { networkInterfaces } from 'node:os'
import { isLoopback } from '../../access/limits/address-key.ts'
import type { ServerOptions } from '../options/options.ts'

type Listeners = Pick<ServerOptions, 'host' | 'tlsHost' | 'httpPort' | 'httpsPort' | 'mqttPort' | 'mqttsPort'>

const wildcards = ['0.0.0.0', '::']

/**
 * Whether a server with these options would itself listen at the URL. A name other than `localhost` is not looked up.
 *
 * @param url with `mqtt`, `mqtts`, `ws` or `wss`
 */
export function isOwnAddress(url: string, options: Listeners): boolean {
  const { protocol, hostname, port } = new URL(url)
  const { host, tlsHost = host, httpPort, httpsPort, mqttPort, mqttsPort } = options
  const listeners: Readonly<Record<string, { port: number; host: string; usual: number }>> = {
    'mqtt:': { port: mqttPort, host, usual: 1883 },
    'mqtts:': { port: mqttsPort, host: tlsHost, usual: 8883 },
    'ws:': { port: httpPort, host, usual: 80 },
    'wss:': { port: httpsPort, host: tlsHost, usual: 443 },
  }
  const listener = listeners[protocol]
  if (!listener || Number(port || listener.usual) !== listener.port) return false
  const [target, own] = [addressOf(hostname), addressOf(listener.host)]
  return target === own || (wildcards.includes(own) && isOfThisMachine(target))
}

function addressOf(host: string): string {
  const name = host.replace(/^\[|\]$/g, '').toLowerCase()
  return name === 'localhost' ? '127.0.0.1' : name
}

function isOfThisMachine(address: string): boolean {
  const infos = Object.values(networkInterfaces()).flatMap(each => each ?? [])
  return isLoopback(address) || infos.some(info => info.address === address)
}
