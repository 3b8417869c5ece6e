import { lookup } from 'node:dns/promises'
import { networkInterfaces } from 'node:os'
import { join, resolve } from 'node:path'
import { isLoopback } from '../../access/limits/address-key.ts'
import { Redactor } from '../../core/refusals/redactor.ts'
import type { ForwardLog } from '../../forward/forward-notices.ts'
import type { ForwardOptions } from '../../forward/forwarder.ts'
import { readTarget } from '../../forward/target.ts'
import { ThingMap } from '../../forward/thing-map.ts'
import type { ServerOptions } from '../options/options.ts'

/**
 * Makes the `forward` option of `createThings` from the options of the server; undefined if records are not forwarded.
 *
 * @throws Error with one line for the operator: an option is missing or does not fit the store, or a file cannot be used
 */
export async function forwardingOf(
  options: ServerOptions,
  log: ForwardLog,
): Promise<ForwardOptions | undefined> {
  const { forward, forwardThings, forwardCa, forwardBytesPerSecond, forwardLogLimit } = options
  if (forward === undefined) return undefined
  if (options.redisUrl !== undefined)
    throw new Error('forward needs the embedded store: it cannot be set together with redisUrl')
  if (forwardThings === undefined)
    throw new Error(
      'forward is set but not forwardThings: give a file with the token of each thing at the central server (docs/use/forward.md)',
    )
  const target = readTarget(forward, forwardCa, new Redactor(options.adminKey))
  if (await isOwnAddress(target.url, options))
    throw new Error(
      `${target.url} is the address of this server itself: forward must be the address of another server`,
    )
  return {
    target,
    map: new ThingMap(forwardThings, join(resolve(options.dataDir), 'forward-tokens.json')),
    bytesPerSecond: forwardBytesPerSecond,
    logLimit: forwardLogLimit,
    log,
  }
}

type Listeners = Pick<ServerOptions, 'host' | 'tlsHost' | 'httpPort' | 'httpsPort' | 'mqttPort' | 'mqttsPort'>

const wildcards = ['0.0.0.0', '::']

/**
 * Whether a server with these options listens at the URL. A host name that cannot be resolved is only compared as text.
 *
 * @param url a URL with the scheme `mqtt`, `mqtts`, `ws` or `wss`
 */
export async function isOwnAddress(url: string, options: Listeners): Promise<boolean> {
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
  const [targets, owns] = await Promise.all([addressesOf(hostname), addressesOf(listener.host)])
  return targets.some(
    target => owns.includes(target) || (owns.some(own => wildcards.includes(own)) && isOfThisMachine(target)),
  )
}

/** The name itself and the addresses to which it resolves. */
async function addressesOf(host: string): Promise<string[]> {
  const name = host.replace(/^\[|\]$/g, '').toLowerCase()
  const found = await lookup(name, { all: true }).catch(() => [])
  return [name, ...found.map(({ address }) => address)]
}

function isOfThisMachine(address: string): boolean {
  const infos = Object.values(networkInterfaces()).flatMap(each => each ?? [])
  return isLoopback(address) || infos.some(info => info.address === address)
}
