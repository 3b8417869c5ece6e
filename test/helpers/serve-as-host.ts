import { parseArgs } from 'node:util'
import { keepAdminKey } from '../../src/access/admin-key.ts'
import type { MagicResource } from '../../src/magic/magic-resource.ts'
import { urlOf } from '../../src/server/connections/listening.ts'
import { openHttpDoor } from '../../src/server/http/http-door.ts'
import { webSocketPath } from '../../src/server/http/mqtt-web-sockets.ts'
import { chooseStore } from '../../src/server/keeping/choose-store.ts'
import { createLogger } from '../../src/server/log/log.ts'
import { Observations } from '../../src/server/metrics/observations.ts'
import { openMqttServer } from '../../src/server/mqtt-server.ts'
import { loadOptions } from '../../src/server/options/load-options.ts'
import { flagName, optionNames } from '../../src/server/options/options.ts'
import { openThings } from '../../src/things.ts'

/**
 * Puts the server's parts together as a host does that brings magic resources of its own, until SIGTERM; takes the
 * arguments and the environment of `thingwire start`, and says as it does when it is ready.
 */
export async function serveAsHost(...magicResources: readonly MagicResource[]): Promise<void> {
  const flags = Object.fromEntries(optionNames.map(name => [flagName(name), { type: 'string' }] as const))
  const { values } = parseArgs({ options: flags, allowPositionals: true })
  const options = await loadOptions(values as Record<string, string>, process.env)
  const log = createLogger(options.logLevel)
  const stopping = new AbortController()
  const { store, adminKey } = await chooseStore(options, log, new Observations())
  const things = await openThings({
    store,
    adminKey: adminKey.key,
    storeTimeout: options.storeTimeout,
    limits: options,
    magicResources,
    onDefect: error => log.error({ err: error }, 'defect'),
  })
  const mqtt = await openMqttServer(things, options, log, stopping.signal)
  const http = await openHttpDoor(things, mqtt, options, log, stopping.signal)
  await keepAdminKey(adminKey)
  process.on('SIGTERM', async () => {
    stopping.abort()
    await Promise.all([mqtt.close(), http.close()])
    await things.close()
    process.exit(0)
  })
  console.log(`MQTT at ${mqtt.url}, over WebSocket at ${urlOf('ws', http.address)}${webSocketPath}`)
  console.log(`Thingwire is ready at ${http.url}`)
}
