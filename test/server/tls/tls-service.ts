import { mkdir, rename, symlink, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { connect, type PeerCertificate, type TLSSocket } from 'node:tls'
import { connectAsync, type MqttClient } from 'mqtt'
import { onTestFinished } from 'vitest'
import { createServer, type Server, type ServerOptions } from '../../../src/server/index.ts'
import { createCertificate, type TestCertificate } from '../../helpers/certificate.ts'
import { CollectedLog } from '../../helpers/collected-log.ts'
import { createThing, type Thing } from '../../helpers/http-client.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'

/** The files of a certificate, replaced as Kubernetes does it: a directory behind a symbolic link that is swapped. */
export class CertificateDirectory {
  readonly tlsCert: string
  readonly tlsKey: string
  readonly #root: string
  #versions = 0

  static async create(pair: TestCertificate): Promise<CertificateDirectory> {
    const directory = new CertificateDirectory(await temporaryDirectory())
    await directory.replace(pair)
    return directory
  }

  private constructor(root: string) {
    this.#root = root
    this.tlsCert = join(root, 'current', 'cert.pem')
    this.tlsKey = join(root, 'current', 'key.pem')
  }

  async replace({ cert, key }: TestCertificate): Promise<void> {
    const version = `version-${this.#versions++}`
    await mkdir(join(this.#root, version))
    await writeFile(join(this.#root, version, 'cert.pem'), cert)
    await writeFile(join(this.#root, version, 'key.pem'), key)
    await symlink(version, join(this.#root, 'next'))
    await rename(join(this.#root, 'next'), join(this.#root, 'current'))
  }
}

/** The ready server with TLS in this process, and its clients; all closed at the end of the test. */
export class TlsService {
  readonly pair: TestCertificate
  readonly files: CertificateDirectory
  readonly server: Server
  readonly log: CollectedLog
  readonly thing: Thing

  static async start(options: Partial<ServerOptions> = {}): Promise<TlsService> {
    const pair = createCertificate()
    const files = await CertificateDirectory.create(pair)
    const log = new CollectedLog()
    const { tlsCert, tlsKey } = files
    const dataDir = await temporaryDirectory()
    const ports = { httpPort: 0, mqttPort: 0, httpsPort: 0, mqttsPort: 0, minFreeSpace: 0 }
    const server = await createServer({ dataDir, tlsCert, tlsKey, ...ports, ...options }, { log: log.logger })
    onTestFinished(() => server.close())
    const thing = await createThing({ url: server.url, adminKey: server.adminKey.key })
    return new TlsService({ pair, files, log, server, thing })
  }

  private constructor(parts: Pick<TlsService, 'pair' | 'files' | 'log' | 'server' | 'thing'>) {
    this.pair = parts.pair
    this.files = parts.files
    this.log = parts.log
    this.server = parts.server
    this.thing = parts.thing
  }

  /** mqtt.js, over `mqtts` or `wss`. */
  async connectMqtt(url: string | undefined, ca: string): Promise<MqttClient> {
    const client = await connectAsync(url ?? '', { ca, reconnectPeriod: 0 }, false)
    onTestFinished(() => client.endAsync(true))
    return client
  }

  /** A TLS connection to one of the listeners, its handshake done. */
  connect(url: string | undefined, ca: string): Promise<TLSSocket> {
    const { hostname: host, port } = new URL(url ?? '')
    return new Promise((resolve, reject) => {
      const socket = connect({ host, port: Number(port), ca }, () => resolve(socket))
      socket.on('error', reject)
      onTestFinished(() => void socket.destroy())
    })
  }

  async certificateAt(url: string | undefined, ca: string): Promise<PeerCertificate> {
    const socket = await this.connect(url, ca)
    return socket.getPeerCertificate()
  }

  /** Writes a number over https. */
  async write(value: number, ca: string): Promise<{ status: number | undefined; body: string }> {
    return await new Promise((resolve, reject) => {
      const url = `${this.server.httpsUrl}/v2/things/${this.thing.thingToken}`
      const sent = request(url, { method: 'POST', ca, agent: false }, answer => {
        text(answer).then(body => resolve({ status: answer.statusCode, body }), reject)
      })
      sent.on('error', reject)
      sent.end(JSON.stringify({ values: [{ key: 'n', value }] }))
    })
  }
}
