import { onTestFinished } from 'vitest'
import type { ServerOptions } from '../../../src/server/options/options.ts'
import { createServer } from '../../../src/server/server.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'

/** A ready server in this process, and its metrics; closed at the end of the test. */
export async function startWatched(given: Partial<ServerOptions> = {}) {
  const dataDir = await temporaryDirectory()
  const server = await createServer({ httpPort: 0, mqttPort: 0, dataDir, logLevel: 'silent', ...given })
  onTestFinished(() => server.close())
  const { url, mqttUrl, webSocketUrl, adminKey } = server
  /** The answer of `/metrics`. */
  const scrape = async () => await (await fetch(`${url}/metrics`)).text()
  return {
    ...{ url, adminKey: adminKey.key, mqtt: { url: mqttUrl }, webSocket: { url: webSocketUrl }, scrape },
    /** @param name with labels, as `thingwire_connections{kind="mqtt"}`; undefined: there is no such sample now */
    sample: async (name: string) => samplesIn(await scrape()).get(name),
  }
}

/** Values by what stands before them. */
export function samplesIn(text: string): ReadonlyMap<string, number> {
  const lines = text.matchAll(/^([a-z_]+(?:\{.*\})?) (\S+)$/gm)
  return new Map([...lines].map(([, name = '', value]) => [name, Number(value)]))
}
