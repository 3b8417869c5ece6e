import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os'
import type { Server } from './server.ts'

const wildcards: ReadonlyMap<string, string> = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['[::]', '[::1]'],
])

/** The URL for a program on this machine: `http://0.0.0.0:8080` becomes `http://127.0.0.1:8080`. */
export function onThisMachine(url: string): string {
  const host = hostOf(url)
  return url.replace(host, wildcards.get(host) ?? host)
}

/**
 * Lines with URLs for devices, one line per network address of this machine. If the machine has none, one line explains this.
 * There are no lines if the server does not listen on all addresses.
 *
 * @param interfaces default: the network interfaces of this machine
 */
export function linesForDevices(
  { url, mqttUrl, httpsUrl, mqttsUrl }: Pick<Server, 'url' | 'mqttUrl' | 'httpsUrl' | 'mqttsUrl'>,
  interfaces: NodeJS.Dict<NetworkInterfaceInfo[]> = networkInterfaces(),
): readonly string[] {
  const urls = [httpsUrl, mqttsUrl, url, mqttUrl].filter(each => each !== undefined).filter(isForAll)
  if (urls.length === 0) return []
  const places = placesForDevices(urls, interfaces)
  if (places.length === 0) return ['No device can reach it yet: this machine has no network address']
  return places.map(
    ({ name, urls }) => `Devices on the network of ${name} can reach it at ${urls.join(', ')}`,
  )
}

/** The URL of the page, for browsers. If the server listens on all addresses, contains a network address if there is one. */
export function urlForBrowsers(url: string): string {
  const [place] = isForAll(url) ? placesForDevices([url], networkInterfaces()) : []
  return place?.urls[0] ?? onThisMachine(url)
}

function isForAll(url: string): boolean {
  return wildcards.has(hostOf(url))
}

/** @param urls with a wildcard address @returns the interface name and the URLs for each network address */
function placesForDevices(urls: readonly string[], interfaces: NodeJS.Dict<NetworkInterfaceInfo[]>) {
  const isV4Alone = urls.every(each => hostOf(each) === '0.0.0.0')
  const found = Object.entries(interfaces).flatMap(([name, infos = []]) =>
    infos.filter(info => isForDevices(info, isV4Alone)).map(info => ({ name, host: inUrl(info) })),
  )
  return found.map(({ name, host }) => ({ name, urls: urls.map(each => each.replace(hostOf(each), host)) }))
}

/** Excludes link-local addresses of IPv6: they need a zone, which a device does not know. */
function isForDevices({ internal, family, address }: NetworkInterfaceInfo, isV4Alone: boolean): boolean {
  return !internal && (family === 'IPv4' || (!isV4Alone && !/^fe80:/i.test(address)))
}

function inUrl({ family, address }: NetworkInterfaceInfo): string {
  return family === 'IPv6' ? `[${address}]` : address
}

function hostOf(url: string): string {
  return /^\w+:\/\/(\[[^\]]*\]|[^:/]*)/.exec(url)?.[1] ?? ''
}
