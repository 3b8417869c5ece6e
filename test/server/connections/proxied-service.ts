import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { vi } from 'vitest'
import { createCertificate } from '../../helpers/certificate.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'
import { DoorService } from '../../mqtt/door-service.ts'

export interface ProxiedService extends DoorService {
  /** Addresses that presented a credential that is not valid, in order. */
  readonly failed: readonly string[]
}

export interface ProxiedServiceOptions {
  readonly trustedProxies?: string[]
  readonly connectionsPerAddress?: number
}

/** The doors of the ready server in this process, with TLS, as behind a load balancer; closed at the end of the test. */
export async function startProxied(given: ProxiedServiceOptions = {}): Promise<ProxiedService> {
  const { connectionsPerAddress, trustedProxies } = given
  const dataDir = await temporaryDirectory()
  const { cert, key } = createCertificate()
  const files = { tlsCert: join(dataDir, 'cert.pem'), tlsKey: join(dataDir, 'key.pem') }
  await writeFile(files.tlsCert, cert)
  await writeFile(files.tlsKey, key)
  const server = { httpsPort: 0, mqttsPort: 0, ...files, ...(trustedProxies && { trustedProxies }) }
  const limits = connectionsPerAddress === undefined ? {} : { connectionsPerAddress }
  const service = await DoorService.start({ dataDir, server, limits })
  const failed: string[] = []
  const { failedCredentials } = service.things.limits
  const note = failedCredentials.note.bind(failedCredentials)
  vi.spyOn(failedCredentials, 'note').mockImplementation(address => {
    failed.push(address)
    return note(address)
  })
  return Object.assign(service, { failed })
}
