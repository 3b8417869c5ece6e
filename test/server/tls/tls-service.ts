import { mkdir, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import { onTestFinished } from 'vitest'
import { createServer, type ServerOptions } from '../../../src/server/index.ts'
import { createCertificate, type TestCertificate } from '../../helpers/certificate.ts'
import { CollectedLog } from '../../helpers/collected-log.ts'
import { createThing } from '../../helpers/http-client.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'

/** The files of a certificate, replaced as Kubernetes does it: a directory behind a symbolic link that is swapped. */
export async function certificateDirectory(pair: TestCertificate) {
  const root = await temporaryDirectory()
  let versions = 0
  const replace = async ({ cert, key }: TestCertificate) => {
    const version = `version-${versions++}`
    await mkdir(join(root, version))
    await writeFile(join(root, version, 'cert.pem'), cert)
    await writeFile(join(root, version, 'key.pem'), key)
    await symlink(version, join(root, 'next'))
    await rename(join(root, 'next'), join(root, 'current'))
  }
  await replace(pair)
  return { tlsCert: join(root, 'current', 'cert.pem'), tlsKey: join(root, 'current', 'key.pem'), replace }
}

export type TlsService = Awaited<ReturnType<typeof startTls>>

/** The ready server with TLS in this process, and a thing; closed at the end of the test. */
export async function startTls(options: Partial<ServerOptions> = {}) {
  const pair = createCertificate()
  const files = await certificateDirectory(pair)
  const log = new CollectedLog()
  const { tlsCert, tlsKey } = files
  const dataDir = await temporaryDirectory()
  const ports = { httpPort: 0, mqttPort: 0, httpsPort: 0, mqttsPort: 0, minFreeSpace: 0 }
  const server = await createServer({ dataDir, tlsCert, tlsKey, ...ports, ...options }, { log: log.logger })
  onTestFinished(() => server.close())
  const thing = await createThing({ url: server.url, adminKey: server.adminKey.key })
  return { pair, files, log, server, thing }
}

/** A TLS connection to one of the listeners, its handshake done; closed at the end of the test. */
export function connectTls(url: string | undefined, ca: string): Promise<TLSSocket> {
  const { hostname: host, port } = new URL(url ?? '')
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number(port), ca }, () => resolve(socket))
    socket.on('error', reject)
    onTestFinished(() => void socket.destroy())
  })
}
