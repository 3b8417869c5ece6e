import { type Host, type HostOptions, openHost } from './host.ts'

export interface ListeningHost extends Host {
  /** Of the thing, with its token. */
  readonly url: string
}

/** A host on a port of its own. */
export async function listeningHost(
  drainTimeout?: number,
  options: HostOptions = {},
): Promise<ListeningHost> {
  const host = await openHost(drainTimeout === undefined ? options : { ...options, plugin: { drainTimeout } })
  const address = await host.app.listen({ host: '127.0.0.1', port: 0 })
  return { ...host, url: address + host.path }
}
