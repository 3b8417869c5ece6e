import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import type { ServerOptions } from '../options/options.ts'

/** The paths in the options `tlsCert` and `tlsKey`. */
export interface CertificateFiles {
  readonly tlsCert: string
  readonly tlsKey: string
}

/** The contents of the two files, PEM. */
export interface CertificatePair {
  readonly cert: string
  readonly key: string
}

/** The validity of the first certificate in the chain. */
export interface Validity {
  readonly from: Date
  readonly to: Date
}

/** Undefined if neither option is set. @throws Error with one line for the operator if only one is set */
export function certificateFiles({ tlsCert, tlsKey }: ServerOptions): CertificateFiles | undefined {
  if (tlsCert === undefined && tlsKey === undefined) return undefined
  if (tlsCert === undefined) throw new Error('tlsKey is set but not tlsCert: TLS needs both')
  if (tlsKey === undefined) throw new Error('tlsCert is set but not tlsKey: TLS needs both')
  return { tlsCert, tlsKey }
}

/** @throws Error with one line for the operator if a file cannot be read */
export async function readPair({ tlsCert, tlsKey }: CertificateFiles): Promise<CertificatePair> {
  const cert = await read('tlsCert', tlsCert)
  return { cert, key: await read('tlsKey', tlsKey) }
}

async function read(option: keyof CertificateFiles, path: string): Promise<string> {
  return await readFile(path, 'latin1').catch((cause: Error) => {
    throw new Error(`cannot read ${option}: ${cause.message}`, { cause })
  })
}

/** Checks all but the validity, which it returns. @throws Error with one line for the operator, without any part of the key */
export function checkPair({ cert, key }: CertificatePair, { tlsCert, tlsKey }: CertificateFiles): Validity {
  const certificate = attempt(
    () => new X509Certificate(cert),
    `tlsCert ${tlsCert} contains no certificate (PEM)`,
  )
  const privateKey = attempt(
    () => createPrivateKey(key),
    `tlsKey ${tlsKey} contains no unencrypted private key (PEM)`,
  )
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new Error(`tlsKey ${tlsKey} does not belong to the first certificate in tlsCert ${tlsCert}`)
  }
  attempt(() => createSecureContext({ cert, key }), `TLS cannot use tlsCert ${tlsCert} with tlsKey ${tlsKey}`)
  return { from: new Date(certificate.validFrom), to: new Date(certificate.validTo) }
}

function attempt<Result>(make: () => Result, problem: string): Result {
  try {
    return make()
  } catch (cause) {
    throw new Error(problem, { cause })
  }
}
