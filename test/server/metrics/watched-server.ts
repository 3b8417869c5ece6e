import { onTestFinished } from 'vitest'
import type { ServerOptions } from '../../../src/server/options/options.ts'
import { createServer } from '../../../src/server/server.ts'
import type { ServerAddress } from '../../helpers/http-client.ts'
import type { MqttAddress } from '../../helpers/mqtt-client.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'

/** A ready server in this process, and its metrics; closed at the end of the test. */
export async function startWatched(given: Partial<ServerOptions> = {}): Promise<WatchedServer> {
  const dataDir = await temporaryDirectory()
  const server = await createServer({ httpPort: 0, mqttPort: 0, dataDir, logLevel: 'silent', ...given })
  onTestFinished(() => server.close())
  const { url, mqttUrl, webSocketUrl } = server
  const scrape = async () => await (await fetch(`${url}/metrics`)).text()
  return {
    url,
    mqtt: { url: mqttUrl },
    webSocket: { url: webSocketUrl },
    adminKey: server.adminKey.key,
    scrape,
    sample: async name => samplesIn(await scrape()).get(name),
  }
}

export interface WatchedServer extends ServerAddress {
  readonly mqtt: MqttAddress
  readonly webSocket: MqttAddress
  /** The answer of `/metrics`. */
  scrape(): Promise<string>
  /** @param name with labels, as `thingwire_connections{kind="mqtt"}`; undefined: there is no such sample now */
  sample(name: string): Promise<number | undefined>
}

/** Values by what stands before them. */
export function samplesIn(text: string): ReadonlyMap<string, number> {
  const lines = text.matchAll(/^([a-z_]+(?:\{.*\})?) (\S+)$/gm)
  return new Map([...lines].map(([, name = '', value]) => [name, Number(value)]))
}

/** Types by name. */
export function metricsIn(text: string): ReadonlyMap<string, string> {
  const lines = text.matchAll(/^# TYPE (\w+) (\w+)$/gm)
  return new Map([...lines].map(([, name = '', type = '']) => [name, type]))
}
