import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'

/** A self-signed certificate for a name and `127.0.0.1`, and its key, PEM. */
export interface TestCertificate {
  readonly cert: string
  readonly key: string
}

export interface TestCertificateSetup {
  /** The name beside 127.0.0.1. Default: `localhost`. */
  readonly host?: string
  /** Default: yesterday. */
  readonly from?: Date
  /** Default: tomorrow. */
  readonly to?: Date
}

const day = 86_400_000

/** Makes a certificate (RFC 5280), each with a key of its own. A client trusts it with `ca: cert`. */
export function createCertificate(setup: TestCertificateSetup = {}): TestCertificate {
  const { host = 'localhost', from = new Date(Date.now() - day), to = new Date(Date.now() + day) } = setup
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = sequence(set(sequence(oid('550403'), der(0x0c, Buffer.from('Thingwire test')))))
  const body = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, Buffer.concat([Buffer.of(1), randomBytes(15)])),
    ecdsaWithSha256,
    name,
    sequence(time(from), time(to)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(sequence(oid('551d11'), der(0x04, alternativeNames(host))))),
  )
  const signature = sign('sha256', body, privateKey)
  const certificate = sequence(body, ecdsaWithSha256, der(0x03, Buffer.of(0), signature))
  return { cert: pem(certificate), key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() }
}

/** Tag, length, contents. */
function der(tag: number, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents)
  const { length } = content
  const long = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.of(tag, ...long), content])
}

function sequence(...items: Buffer[]): Buffer {
  return der(0x30, ...items)
}

function set(...items: Buffer[]): Buffer {
  return der(0x31, ...items)
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'))
}

function time(date: Date): Buffer {
  return der(
    0x17,
    Buffer.from(
      date
        .toISOString()
        .replace(/[-:T]|\.\d+/g, '')
        .slice(2),
    ),
  )
}

function pem(certificate: Buffer): string {
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}

const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'))

function alternativeNames(host: string): Buffer {
  return sequence(der(0x82, Buffer.from(host)), der(0x87, Buffer.of(127, 0, 0, 1)))
}
