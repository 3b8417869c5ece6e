import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { createToken } from '../../src/core/token.ts'
import { openHttpDoor } from '../../src/server/http/http-door.ts'
import { createLogger } from '../../src/server/log/log.ts'
import { openMqttServer } from '../../src/server/mqtt-door.ts'
import { completeOptions } from '../../src/server/options/load-options.ts'
import { createLevelStore } from '../../src/store/level/index.ts'
import { openThings } from '../../src/things.ts'
import type { ServerAddress } from '../helpers/http-client.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { type ObservedStore, observeStore, type Slowness } from './observed-store.ts'

export interface MqttService extends ServerAddress {
  readonly mqttUrl: string
  readonly webSocketUrl: string
}

export interface SlowService extends MqttService {
  readonly store: ObservedStore
}

/** The doors of the ready server on the embedded store, made slow; closed at the end of the test. */
export async function startSlowService(slowness: Slowness): Promise<SlowService> {
  const dataDir = await temporaryDirectory()
  const adminKey = createToken()
  const options = completeOptions({ httpPort: 0, mqttPort: 0, dataDir, minFreeSpace: 0 })
  const store = observeStore(createLevelStore({ location: join(dataDir, 'store') }), slowness)
  const things = await openThings({ store, adminKey })
  const log = createLogger('silent')
  const stopping = new AbortController()
  const mqtt = await openMqttServer(things, options, log, stopping.signal)
  const http = await openHttpDoor(things, mqtt, options, log, stopping.signal)
  onTestFinished(async () => {
    slowness.open?.()
    stopping.abort()
    await Promise.all([mqtt.close(), http.close()])
    await things.close()
  })
  return {
    url: http.url,
    adminKey,
    mqttUrl: mqtt.url,
    webSocketUrl: `${http.url.replace('http', 'ws')}/mqtt`,
    store,
  }
}
