import type { Server, TlsOptions } from 'node:tls'
import type { FastifyBaseLogger } from 'fastify'
import {
  type CertificateFiles,
  type CertificatePair,
  checkPair,
  readPair,
  type Validity,
} from './certificate.ts'

/** Milliseconds between reads of the files. */
const defaultLookEvery = 2_000

/** Why the pair in the files is not served. */
interface Problem {
  readonly level: 'warn' | 'error'
  readonly text: string
}

/**
 * The certificate of all TLS listeners. Its files are read every two seconds, because watching a directory misses swapped
 * symbolic links (Kubernetes, certbot) and changes on network file systems. Open connections keep their certificate; new
 * connections get the new certificate.
 */
export class ServedCertificate {
  readonly #files: CertificateFiles
  readonly #log: FastifyBaseLogger
  readonly #lookEvery: number
  readonly #servers = new Set<Server>()
  #served: CertificatePair
  /** The problem that the last read found, and how many reads in a row have found it. */
  #problem: { readonly text: string; readonly looks: number } | undefined
  #next: NodeJS.Timeout | undefined
  #isClosed = false

  /**
   * @param lookEvery milliseconds between reads, for a test. Default 2,000.
   * @throws Error with one line for the operator if the pair cannot be read or served, or has expired
   */
  static async open(
    files: CertificateFiles,
    log: FastifyBaseLogger,
    lookEvery = defaultLookEvery,
  ): Promise<ServedCertificate> {
    const pair = await readPair(files)
    const validity = checkPair(pair, files)
    if (hasExpired(validity)) throw new Error(expiredText(files, validity))
    const certificate = new ServedCertificate(files, pair, log, lookEvery)
    certificate.#warnIfEarly(validity)
    certificate.#lookLater()
    return certificate
  }

  private constructor(
    files: CertificateFiles,
    pair: CertificatePair,
    log: FastifyBaseLogger,
    lookEvery: number,
  ) {
    this.#files = files
    this.#served = pair
    this.#log = log
    this.#lookEvery = lookEvery
  }

  /** Options for a new TLS server. Pass that server to `keepUp`. */
  get tlsOptions(): TlsOptions {
    return { ...this.#served, minVersion: 'TLSv1.2' }
  }

  /** Makes a server serve every later certificate. */
  keepUp(server: Server): void {
    this.#servers.add(server)
  }

  /** Stops reading the files. */
  close(): void {
    this.#isClosed = true
    clearTimeout(this.#next)
  }

  #lookLater(): void {
    if (this.#isClosed) return
    this.#next = setTimeout(() => void this.#look().finally(() => this.#lookLater()), this.#lookEvery)
    this.#next.unref()
  }

  async #look(): Promise<void> {
    const problem = await this.#take()
    // Reported at the second read, because at the first read only one of the two files may have been replaced.
    const looks = problem !== undefined && problem.text === this.#problem?.text ? this.#problem.looks + 1 : 1
    this.#problem = problem && { text: problem.text, looks }
    if (problem && looks === 2) {
      this.#log[problem.level](
        { problem: problem.text },
        'the new TLS certificate cannot be used: the server keeps the old one',
      )
    }
  }

  /** Serves the pair in the files if it has changed and can be served. @returns the problem if it cannot be served */
  async #take(): Promise<Problem | undefined> {
    try {
      const pair = await readPair(this.#files)
      if (pair.cert === this.#served.cert && pair.key === this.#served.key) return undefined
      const validity = checkPair(pair, this.#files)
      if (hasExpired(validity)) return { level: 'warn', text: expiredText(this.#files, validity) }
      this.#serve(pair, validity)
      return undefined
    } catch (error) {
      return { level: 'error', text: (error as Error).message }
    }
  }

  #serve(pair: CertificatePair, validity: Validity): void {
    this.#served = pair
    for (const server of this.#servers) server.setSecureContext(this.tlsOptions)
    this.#log.info(
      { validTo: validity.to },
      'the TLS certificate has changed: new connections get the new certificate',
    )
    this.#warnIfEarly(validity)
  }

  #warnIfEarly({ from }: Validity): void {
    if (from.getTime() <= Date.now()) return
    this.#log.warn({ validFrom: from }, 'the TLS certificate is not valid yet, or the clock is behind')
  }
}

function hasExpired({ to }: Validity): boolean {
  return to.getTime() < Date.now()
}

function expiredText({ tlsCert }: CertificateFiles, { to }: Validity): string {
  return `the certificate in tlsCert ${tlsCert} expired at ${to.toISOString()}`
}
