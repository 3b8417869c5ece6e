import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished, vi } from 'vitest'
import { createToken } from '../../../src/core/token.ts'
import { openHttpDoor } from '../../../src/server/http/http-door.ts'
import { createLogger } from '../../../src/server/log/log.ts'
import { openMqttServer } from '../../../src/server/mqtt-door.ts'
import { completeOptions } from '../../../src/server/options/load-options.ts'
import { ServedCertificate } from '../../../src/server/tls/served-certificate.ts'
import { createLevelStore } from '../../../src/store/level/index.ts'
import { openThings, type ThingsParts } from '../../../src/things.ts'
import { createCertificate } from '../../helpers/certificate.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'

export interface ProxiedService {
  readonly things: ThingsParts
  readonly adminKey: string
  readonly url: string
  readonly secureUrl: string
  readonly mqttUrl: string
  readonly mqttsUrl: string
  readonly webSocketUrl: string
  /** Addresses that presented a credential that is not valid, in order. */
  readonly failed: readonly string[]
}

export interface ProxiedServiceOptions {
  readonly trustedProxies?: string[]
  readonly connectionsPerAddress?: number
}

/** The doors of the ready server in this process, with TLS, as behind a load balancer; closed at the end of the test. */
export async function startProxied(given: ProxiedServiceOptions = {}): Promise<ProxiedService> {
  const dataDir = await temporaryDirectory()
  const adminKey = createToken()
  const { cert, key } = createCertificate()
  const files = { tlsCert: join(dataDir, 'cert.pem'), tlsKey: join(dataDir, 'key.pem') }
  await writeFile(files.tlsCert, cert)
  await writeFile(files.tlsKey, key)
  const ports = { httpPort: 0, mqttPort: 0, httpsPort: 0, mqttsPort: 0 }
  const options = completeOptions({ ...ports, ...files, dataDir, ...given })
  const things = await openThings({
    store: createLevelStore({ location: join(dataDir, 'store') }),
    adminKey,
    limits: options,
  })
  const log = createLogger('silent')
  const { signal } = new AbortController()
  const certificate = await ServedCertificate.open(files, log)
  const mqtt = await openMqttServer(things, options, log, signal, certificate)
  const http = await openHttpDoor(things, mqtt, options, log, signal, certificate)
  onTestFinished(async () => {
    certificate.close()
    await Promise.all([mqtt.close(), http.close()])
    await things.close()
  })
  const failed: string[] = []
  const note = things.limits.failedCredentials.note.bind(things.limits.failedCredentials)
  vi.spyOn(things.limits.failedCredentials, 'note').mockImplementation(address => {
    failed.push(address)
    return note(address)
  })
  return {
    things,
    adminKey,
    url: http.url,
    secureUrl: http.secureUrl ?? '',
    mqttUrl: mqtt.url,
    mqttsUrl: mqtt.secureUrl ?? '',
    webSocketUrl: `${http.url.replace('http', 'ws')}/mqtt`,
    failed,
  }
}
